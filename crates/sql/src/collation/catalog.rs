//! The collations this server has, by MySQL's numbers: one line each with name, character set, order and Sortlen. A collation that is not
//! here is refused (1273); none is an alias of another order.

use super::Collation;
use super::rules::Base::{General, Uca400, Uca520, Uca900};
use super::rules::Order;
use crate::charset::Charset;

/// What is known of one collation.
pub(super) struct Entry {
    pub id: u16,
    pub name: &'static str,
    pub charset: Charset,
    pub order: Order,
    pub sort_length: u8,
}

const fn entry(id: u16, name: &'static str, charset: Charset, order: Order, sort_length: u8) -> Entry {
    Entry { id, name, charset, order, sort_length }
}

/// Greatest number and one.
pub(super) const NUMBERS: usize = 324;

/// The entry of a number.
pub(super) fn find(id: u16) -> Option<&'static Entry> {
    let at = *PLACES.get(usize::from(id))?;
    CATALOG.get(usize::from(at))
}

/// All entries by number.
pub(super) fn all() -> impl Iterator<Item = Collation> {
    CATALOG.iter().map(|entry| Collation(entry.id))
}

const PLACES: [u16; NUMBERS] = {
    let mut places = [u16::MAX; NUMBERS];
    let mut at = 0;
    while at < CATALOG.len() {
        places[CATALOG[at].id as usize] = at as u16;
        at += 1;
    }
    places
};

#[rustfmt::skip]
const CATALOG: &[Entry] = &[
    entry(5, "latin1_german1_ci", Charset::Latin1, Order::EightBit(1), 1),
    entry(8, "latin1_swedish_ci", Charset::Latin1, Order::EightBit(0), 1),
    entry(11, "ascii_general_ci", Charset::Ascii, Order::EightBit(7), 1),
    entry(15, "latin1_danish_ci", Charset::Latin1, Order::EightBit(3), 1),
    entry(31, "latin1_german2_ci", Charset::Latin1, Order::EightBit(2), 2),
    entry(33, "utf8mb3_general_ci", Charset::Utf8mb3, Order::Table(General, 1), 1),
    entry(45, "utf8mb4_general_ci", Charset::Utf8mb4, Order::Table(General, 1), 1),
    entry(46, "utf8mb4_bin", Charset::Utf8mb4, Order::Bytes, 1),
    entry(47, "latin1_bin", Charset::Latin1, Order::Encoded, 1),
    entry(48, "latin1_general_ci", Charset::Latin1, Order::EightBit(4), 1),
    entry(49, "latin1_general_cs", Charset::Latin1, Order::EightBit(5), 1),
    entry(63, "binary", Charset::Binary, Order::Bytes, 1),
    entry(65, "ascii_bin", Charset::Ascii, Order::Encoded, 1),
    entry(83, "utf8mb3_bin", Charset::Utf8mb3, Order::Bytes, 1),
    entry(94, "latin1_spanish_ci", Charset::Latin1, Order::EightBit(6), 1),
    entry(192, "utf8mb3_unicode_ci", Charset::Utf8mb3, Order::Table(Uca400, 1), 8),
    entry(193, "utf8mb3_icelandic_ci", Charset::Utf8mb3, Order::Tailored(0, 1), 8),
    entry(194, "utf8mb3_latvian_ci", Charset::Utf8mb3, Order::Tailored(1, 1), 8),
    entry(195, "utf8mb3_romanian_ci", Charset::Utf8mb3, Order::Tailored(2, 1), 8),
    entry(196, "utf8mb3_slovenian_ci", Charset::Utf8mb3, Order::Tailored(3, 1), 8),
    entry(197, "utf8mb3_polish_ci", Charset::Utf8mb3, Order::Tailored(4, 1), 8),
    entry(198, "utf8mb3_estonian_ci", Charset::Utf8mb3, Order::Tailored(5, 1), 8),
    entry(199, "utf8mb3_spanish_ci", Charset::Utf8mb3, Order::Tailored(6, 1), 8),
    entry(200, "utf8mb3_swedish_ci", Charset::Utf8mb3, Order::Tailored(7, 1), 8),
    entry(201, "utf8mb3_turkish_ci", Charset::Utf8mb3, Order::Tailored(8, 1), 8),
    entry(202, "utf8mb3_czech_ci", Charset::Utf8mb3, Order::Tailored(9, 1), 8),
    entry(203, "utf8mb3_danish_ci", Charset::Utf8mb3, Order::Tailored(10, 1), 8),
    entry(204, "utf8mb3_lithuanian_ci", Charset::Utf8mb3, Order::Tailored(11, 1), 8),
    entry(205, "utf8mb3_slovak_ci", Charset::Utf8mb3, Order::Tailored(12, 1), 8),
    entry(206, "utf8mb3_spanish2_ci", Charset::Utf8mb3, Order::Tailored(13, 1), 8),
    entry(207, "utf8mb3_roman_ci", Charset::Utf8mb3, Order::Tailored(14, 1), 8),
    entry(208, "utf8mb3_persian_ci", Charset::Utf8mb3, Order::Tailored(15, 1), 8),
    entry(209, "utf8mb3_esperanto_ci", Charset::Utf8mb3, Order::Tailored(16, 1), 8),
    entry(210, "utf8mb3_hungarian_ci", Charset::Utf8mb3, Order::Tailored(17, 1), 8),
    entry(211, "utf8mb3_sinhala_ci", Charset::Utf8mb3, Order::Tailored(18, 1), 8),
    entry(212, "utf8mb3_german2_ci", Charset::Utf8mb3, Order::Tailored(19, 1), 8),
    entry(213, "utf8mb3_croatian_ci", Charset::Utf8mb3, Order::Tailored(20, 1), 8),
    entry(214, "utf8mb3_unicode_520_ci", Charset::Utf8mb3, Order::Table(Uca520, 1), 8),
    entry(215, "utf8mb3_vietnamese_ci", Charset::Utf8mb3, Order::Tailored(21, 1), 8),
    entry(224, "utf8mb4_unicode_ci", Charset::Utf8mb4, Order::Table(Uca400, 1), 8),
    entry(225, "utf8mb4_icelandic_ci", Charset::Utf8mb4, Order::Tailored(0, 1), 8),
    entry(226, "utf8mb4_latvian_ci", Charset::Utf8mb4, Order::Tailored(1, 1), 8),
    entry(227, "utf8mb4_romanian_ci", Charset::Utf8mb4, Order::Tailored(2, 1), 8),
    entry(228, "utf8mb4_slovenian_ci", Charset::Utf8mb4, Order::Tailored(3, 1), 8),
    entry(229, "utf8mb4_polish_ci", Charset::Utf8mb4, Order::Tailored(4, 1), 8),
    entry(230, "utf8mb4_estonian_ci", Charset::Utf8mb4, Order::Tailored(5, 1), 8),
    entry(231, "utf8mb4_spanish_ci", Charset::Utf8mb4, Order::Tailored(6, 1), 8),
    entry(232, "utf8mb4_swedish_ci", Charset::Utf8mb4, Order::Tailored(7, 1), 8),
    entry(233, "utf8mb4_turkish_ci", Charset::Utf8mb4, Order::Tailored(8, 1), 8),
    entry(234, "utf8mb4_czech_ci", Charset::Utf8mb4, Order::Tailored(9, 1), 8),
    entry(235, "utf8mb4_danish_ci", Charset::Utf8mb4, Order::Tailored(10, 1), 8),
    entry(236, "utf8mb4_lithuanian_ci", Charset::Utf8mb4, Order::Tailored(11, 1), 8),
    entry(237, "utf8mb4_slovak_ci", Charset::Utf8mb4, Order::Tailored(12, 1), 8),
    entry(238, "utf8mb4_spanish2_ci", Charset::Utf8mb4, Order::Tailored(13, 1), 8),
    entry(239, "utf8mb4_roman_ci", Charset::Utf8mb4, Order::Tailored(14, 1), 8),
    entry(240, "utf8mb4_persian_ci", Charset::Utf8mb4, Order::Tailored(15, 1), 8),
    entry(241, "utf8mb4_esperanto_ci", Charset::Utf8mb4, Order::Tailored(16, 1), 8),
    entry(242, "utf8mb4_hungarian_ci", Charset::Utf8mb4, Order::Tailored(17, 1), 8),
    entry(243, "utf8mb4_sinhala_ci", Charset::Utf8mb4, Order::Tailored(18, 1), 8),
    entry(244, "utf8mb4_german2_ci", Charset::Utf8mb4, Order::Tailored(19, 1), 8),
    entry(245, "utf8mb4_croatian_ci", Charset::Utf8mb4, Order::Tailored(20, 1), 8),
    entry(246, "utf8mb4_unicode_520_ci", Charset::Utf8mb4, Order::Table(Uca520, 1), 8),
    entry(247, "utf8mb4_vietnamese_ci", Charset::Utf8mb4, Order::Tailored(21, 1), 8),
    entry(255, "utf8mb4_0900_ai_ci", Charset::Utf8mb4, Order::Table(Uca900, 1), 0),
    entry(256, "utf8mb4_de_pb_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(22, 1), 0),
    entry(257, "utf8mb4_is_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(23, 1), 0),
    entry(258, "utf8mb4_lv_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(24, 1), 0),
    entry(259, "utf8mb4_ro_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(25, 1), 0),
    entry(260, "utf8mb4_sl_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(26, 1), 0),
    entry(261, "utf8mb4_pl_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(27, 1), 0),
    entry(262, "utf8mb4_et_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(28, 1), 0),
    entry(263, "utf8mb4_es_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(29, 1), 0),
    entry(264, "utf8mb4_sv_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(30, 1), 0),
    entry(265, "utf8mb4_tr_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(31, 1), 0),
    entry(266, "utf8mb4_cs_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(32, 1), 0),
    entry(267, "utf8mb4_da_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(33, 1), 0),
    entry(268, "utf8mb4_lt_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(34, 1), 0),
    entry(269, "utf8mb4_sk_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(35, 1), 0),
    entry(270, "utf8mb4_es_trad_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(36, 1), 0),
    entry(271, "utf8mb4_la_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(37, 1), 0),
    entry(273, "utf8mb4_eo_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(38, 1), 0),
    entry(274, "utf8mb4_hu_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(39, 1), 0),
    entry(275, "utf8mb4_hr_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(40, 1), 0),
    entry(277, "utf8mb4_vi_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(41, 1), 0),
    entry(278, "utf8mb4_0900_as_cs", Charset::Utf8mb4, Order::Table(Uca900, 3), 0),
    entry(279, "utf8mb4_de_pb_0900_as_cs", Charset::Utf8mb4, Order::Tailored(22, 3), 0),
    entry(280, "utf8mb4_is_0900_as_cs", Charset::Utf8mb4, Order::Tailored(23, 3), 0),
    entry(281, "utf8mb4_lv_0900_as_cs", Charset::Utf8mb4, Order::Tailored(24, 3), 0),
    entry(282, "utf8mb4_ro_0900_as_cs", Charset::Utf8mb4, Order::Tailored(25, 3), 0),
    entry(283, "utf8mb4_sl_0900_as_cs", Charset::Utf8mb4, Order::Tailored(26, 3), 0),
    entry(284, "utf8mb4_pl_0900_as_cs", Charset::Utf8mb4, Order::Tailored(27, 3), 0),
    entry(285, "utf8mb4_et_0900_as_cs", Charset::Utf8mb4, Order::Tailored(28, 3), 0),
    entry(286, "utf8mb4_es_0900_as_cs", Charset::Utf8mb4, Order::Tailored(29, 3), 0),
    entry(287, "utf8mb4_sv_0900_as_cs", Charset::Utf8mb4, Order::Tailored(30, 3), 0),
    entry(288, "utf8mb4_tr_0900_as_cs", Charset::Utf8mb4, Order::Tailored(31, 3), 0),
    entry(289, "utf8mb4_cs_0900_as_cs", Charset::Utf8mb4, Order::Tailored(32, 3), 0),
    entry(290, "utf8mb4_da_0900_as_cs", Charset::Utf8mb4, Order::Tailored(33, 3), 0),
    entry(291, "utf8mb4_lt_0900_as_cs", Charset::Utf8mb4, Order::Tailored(34, 3), 0),
    entry(292, "utf8mb4_sk_0900_as_cs", Charset::Utf8mb4, Order::Tailored(35, 3), 0),
    entry(293, "utf8mb4_es_trad_0900_as_cs", Charset::Utf8mb4, Order::Tailored(36, 3), 0),
    entry(294, "utf8mb4_la_0900_as_cs", Charset::Utf8mb4, Order::Tailored(37, 3), 0),
    entry(296, "utf8mb4_eo_0900_as_cs", Charset::Utf8mb4, Order::Tailored(38, 3), 0),
    entry(297, "utf8mb4_hu_0900_as_cs", Charset::Utf8mb4, Order::Tailored(39, 3), 0),
    entry(298, "utf8mb4_hr_0900_as_cs", Charset::Utf8mb4, Order::Tailored(40, 3), 0),
    entry(300, "utf8mb4_vi_0900_as_cs", Charset::Utf8mb4, Order::Tailored(41, 3), 0),
    entry(305, "utf8mb4_0900_as_ci", Charset::Utf8mb4, Order::Table(Uca900, 2), 0),
    entry(306, "utf8mb4_ru_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(42, 1), 0),
    entry(307, "utf8mb4_ru_0900_as_cs", Charset::Utf8mb4, Order::Tailored(42, 3), 0),
    entry(309, "utf8mb4_0900_bin", Charset::Utf8mb4, Order::Bytes, 1),
    entry(310, "utf8mb4_nb_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(43, 1), 0),
    entry(311, "utf8mb4_nb_0900_as_cs", Charset::Utf8mb4, Order::Tailored(43, 3), 0),
    entry(312, "utf8mb4_nn_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(44, 1), 0),
    entry(313, "utf8mb4_nn_0900_as_cs", Charset::Utf8mb4, Order::Tailored(44, 3), 0),
    entry(314, "utf8mb4_sr_latn_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(45, 1), 0),
    entry(315, "utf8mb4_sr_latn_0900_as_cs", Charset::Utf8mb4, Order::Tailored(45, 3), 0),
    entry(316, "utf8mb4_bs_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(46, 1), 0),
    entry(317, "utf8mb4_bs_0900_as_cs", Charset::Utf8mb4, Order::Tailored(46, 3), 0),
    entry(318, "utf8mb4_bg_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(47, 1), 0),
    entry(319, "utf8mb4_bg_0900_as_cs", Charset::Utf8mb4, Order::Tailored(47, 3), 0),
    entry(320, "utf8mb4_gl_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(48, 1), 0),
    entry(321, "utf8mb4_gl_0900_as_cs", Charset::Utf8mb4, Order::Tailored(48, 3), 0),
    entry(322, "utf8mb4_mn_cyrl_0900_ai_ci", Charset::Utf8mb4, Order::Tailored(49, 1), 0),
    entry(323, "utf8mb4_mn_cyrl_0900_as_cs", Charset::Utf8mb4, Order::Tailored(49, 3), 0),
];
