//! Decoding: a cursor over hostile bytes. Every read checks the length; nothing here can panic.

/// The bytes do not follow the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed packet")]
pub struct Malformed;

/// Reads the protocol's integers and strings from one payload.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Begins at the start of `payload`.
    pub fn new(payload: &'a [u8]) -> Self {
        Cursor { rest: payload }
    }
    /// Bytes not yet read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
    /// The next `len` bytes.
    ///
    /// # Errors
    /// [`Malformed`] if there are fewer; so all the readers below.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or(Malformed)?;
        self.rest = rest;
        Ok(head)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*head)
    }
    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }
    /// Two bytes, little endian.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }
    /// Four bytes, little endian.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }
    /// Eight bytes, little endian.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }
    /// A length-encoded integer; the NULL mark (0xfb) and 0xff are malformed here.
    pub fn lenenc(&mut self) -> Result<u64, Malformed> {
        match self.u8()? {
            first @ 0..=0xfa => Ok(u64::from(first)),
            0xfc => Ok(u64::from(self.u16()?)),
            0xfd => {
                let [a, b, c] = self.array::<3>()?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xfe => self.u64(),
            _ => Err(Malformed),
        }
    }
    /// A length-encoded string.
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = usize::try_from(self.lenenc()?).map_err(|_| Malformed)?;
        self.bytes(len)
    }
    /// A string that ends with a zero byte, without it.
    pub fn nul_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.rest.iter().position(|&b| b == 0).ok_or(Malformed)?;
        let text = self.bytes(len)?;
        self.bytes(1)?;
        Ok(text)
    }
}
