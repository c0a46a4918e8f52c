//! The table of character sets: name, bytes of a character, encoding, default collation.

use super::{Charset, Encoding};

pub(crate) struct Description {
    pub(super) charset: Charset,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(crate) default: u16,
    pub(crate) bin: u16,
    pub(super) most_bytes: u32,
    pub(super) encoding: Encoding,
}

#[rustfmt::skip]
pub(super) const DESCRIPTIONS: &[Description] = &[
    set(Charset::Big5, "big5", "Big5 Traditional Chinese", 1, 84, 2, Encoding::MultiByte(1)),
    set(Charset::Dec8, "dec8", "DEC West European", 3, 69, 1, Encoding::EightBit(17)),
    set(Charset::Cp850, "cp850", "DOS West European", 4, 80, 1, Encoding::EightBit(13)),
    set(Charset::Hp8, "hp8", "HP West European", 6, 72, 1, Encoding::EightBit(18)),
    set(Charset::Koi8r, "koi8r", "KOI8-R Relcom Russian", 7, 74, 1, Encoding::EightBit(9)),
    set(Charset::Latin1, "latin1", "cp1252 West European", 8, 47, 1, Encoding::EightBit(0)),
    set(Charset::Latin2, "latin2", "ISO 8859-2 Central European", 9, 77, 1, Encoding::EightBit(2)),
    set(Charset::Swe7, "swe7", "7bit Swedish", 10, 82, 1, Encoding::EightBit(19)),
    set(Charset::Ascii, "ascii", "US ASCII", 11, 65, 1, Encoding::EightBit(1)),
    set(Charset::Ujis, "ujis", "EUC-JP Japanese", 12, 91, 3, Encoding::MultiByte(3)),
    set(Charset::Sjis, "sjis", "Shift-JIS Japanese", 13, 88, 2, Encoding::MultiByte(6)),
    set(Charset::Hebrew, "hebrew", "ISO 8859-8 Hebrew", 16, 71, 1, Encoding::EightBit(12)),
    set(Charset::Tis620, "tis620", "TIS620 Thai", 18, 89, 1, Encoding::EightBit(16)),
    set(Charset::Euckr, "euckr", "EUC-KR Korean", 19, 85, 2, Encoding::MultiByte(4)),
    set(Charset::Koi8u, "koi8u", "KOI8-U Ukrainian", 22, 75, 1, Encoding::EightBit(10)),
    set(Charset::Gb2312, "gb2312", "GB2312 Simplified Chinese", 24, 86, 2, Encoding::MultiByte(5)),
    set(Charset::Greek, "greek", "ISO 8859-7 Greek", 25, 70, 1, Encoding::EightBit(11)),
    set(Charset::Cp1250, "cp1250", "Windows Central European", 26, 66, 1, Encoding::EightBit(5)),
    set(Charset::Gbk, "gbk", "GBK Simplified Chinese", 28, 87, 2, Encoding::MultiByte(0)),
    set(Charset::Latin5, "latin5", "ISO 8859-9 Turkish", 30, 78, 1, Encoding::EightBit(3)),
    set(Charset::Armscii8, "armscii8", "ARMSCII-8 Armenian", 32, 64, 1, Encoding::EightBit(20)),
    set(Charset::Utf8mb3, "utf8mb3", "UTF-8 Unicode", 33, 83, 3, Encoding::Utf8),
    set(Charset::Ucs2, "ucs2", "UCS-2 Unicode", 35, 90, 2, Encoding::Utf16),
    set(Charset::Cp866, "cp866", "DOS Russian", 36, 68, 1, Encoding::EightBit(15)),
    set(Charset::Keybcs2, "keybcs2", "DOS Kamenicky Czech-Slovak", 37, 73, 1, Encoding::EightBit(22)),
    set(Charset::Macce, "macce", "Mac Central European", 38, 43, 1, Encoding::EightBit(23)),
    set(Charset::Macroman, "macroman", "Mac West European", 39, 53, 1, Encoding::EightBit(24)),
    set(Charset::Cp852, "cp852", "DOS Central European", 40, 81, 1, Encoding::EightBit(14)),
    set(Charset::Latin7, "latin7", "ISO 8859-13 Baltic", 41, 79, 1, Encoding::EightBit(4)),
    set(Charset::Cp1251, "cp1251", "Windows Cyrillic", 51, 50, 1, Encoding::EightBit(6)),
    set(Charset::Utf16, "utf16", "UTF-16 Unicode", 54, 55, 4, Encoding::Utf16),
    set(Charset::Utf16le, "utf16le", "UTF-16LE Unicode", 56, 62, 4, Encoding::Utf16Le),
    set(Charset::Cp1256, "cp1256", "Windows Arabic", 57, 67, 1, Encoding::EightBit(7)),
    set(Charset::Cp1257, "cp1257", "Windows Baltic", 59, 58, 1, Encoding::EightBit(8)),
    set(Charset::Utf32, "utf32", "UTF-32 Unicode", 60, 61, 4, Encoding::Utf32),
    set(Charset::Binary, "binary", "Binary pseudo charset", 63, 63, 1, Encoding::Bytes),
    set(Charset::Geostd8, "geostd8", "GEOSTD8 Georgian", 92, 93, 1, Encoding::EightBit(21)),
    set(Charset::Cp932, "cp932", "SJIS for Windows Japanese", 95, 96, 2, Encoding::MultiByte(2)),
    set(Charset::Eucjpms, "eucjpms", "UJIS for Windows Japanese", 97, 98, 3, Encoding::MultiByte(7)),
    set(Charset::Gb18030, "gb18030", "China National Standard GB18030", 248, 249, 4, Encoding::MultiByte(8)),
    set(Charset::Utf8mb4, "utf8mb4", "UTF-8 Unicode", 255, 46, 4, Encoding::Utf8),
];

pub(super) const fn set(
    charset: Charset,
    name: &'static str,
    description: &'static str,
    default: u16,
    bin: u16,
    most_bytes: u32,
    encoding: Encoding,
) -> Description {
    Description { charset, name, description, default, bin, most_bytes, encoding }
}
