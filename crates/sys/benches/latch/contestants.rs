//! The three locks of the contest: the latch, the standard library's and parking_lot's.

use super::contest::Contestant;
use turnstile_sys::latch::Latch;

impl Contestant for Latch {
    fn make() -> Self {
        Latch::new()
    }

    fn shared<R>(&self, work: impl FnOnce() -> R) -> R {
        let _guard = self.read();
        work()
    }

    fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        let _guard = self.write();
        work()
    }
}

impl Contestant for std::sync::RwLock<()> {
    fn make() -> Self {
        std::sync::RwLock::new(())
    }

    fn shared<R>(&self, work: impl FnOnce() -> R) -> R {
        let _guard = self.read();
        work()
    }

    fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        let _guard = self.write();
        work()
    }
}

impl Contestant for parking_lot::RwLock<()> {
    fn make() -> Self {
        parking_lot::RwLock::new(())
    }

    fn shared<R>(&self, work: impl FnOnce() -> R) -> R {
        let _guard = self.read();
        work()
    }

    fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        let _guard = self.write();
        work()
    }
}
