//! Widths of integer columns and sizes of BLOB and TEXT columns.

/// Width of an integer column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntWidth {
    /// TINYINT, 1 byte.
    Tiny,
    /// SMALLINT, 2 bytes.
    Small,
    /// MEDIUMINT, 3 bytes.
    Medium,
    /// INT, 4 bytes.
    Int,
    /// BIGINT, 8 bytes.
    Big,
}

impl IntWidth {
    /// Bytes of storage.
    pub fn bytes(self) -> usize {
        match self {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        }
    }

    /// The next wider one; BIGINT has none.
    pub fn wider(self) -> IntWidth {
        match self {
            IntWidth::Tiny => IntWidth::Small,
            IntWidth::Small => IntWidth::Medium,
            IntWidth::Medium => IntWidth::Int,
            IntWidth::Int | IntWidth::Big => IntWidth::Big,
        }
    }

    /// Smallest and largest signed value.
    pub fn signed_range(self) -> (i64, i64) {
        let bits = self.bytes() as u32 * 8;
        if bits == 64 { (i64::MIN, i64::MAX) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
    }

    /// Largest unsigned value.
    pub fn unsigned_max(self) -> u64 {
        let bits = self.bytes() as u32 * 8;
        if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            IntWidth::Tiny => "tinyint",
            IntWidth::Small => "smallint",
            IntWidth::Medium => "mediumint",
            IntWidth::Int => "int",
            IntWidth::Big => "bigint",
        }
    }
}

/// Size class of TEXT and BLOB types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobSize {
    /// 255 bytes.
    Tiny,
    /// 65 535 bytes.
    Normal,
    /// 16 MiB - 1.
    Medium,
    /// 4 GiB - 1.
    Long,
}

impl BlobSize {
    /// Largest content in bytes.
    pub fn max_bytes(self) -> u64 {
        match self {
            BlobSize::Tiny => 255,
            BlobSize::Normal => 65_535,
            BlobSize::Medium => 16_777_215,
            BlobSize::Long => 4_294_967_295,
        }
    }

    /// The least that holds so many bytes.
    pub fn holding(bytes: u64) -> BlobSize {
        let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium];
        sizes.into_iter().find(|size| bytes <= size.max_bytes()).unwrap_or(BlobSize::Long)
    }

    pub(super) fn prefix(self) -> &'static str {
        match self {
            BlobSize::Tiny => "tiny",
            BlobSize::Normal => "",
            BlobSize::Medium => "medium",
            BlobSize::Long => "long",
        }
    }
}
