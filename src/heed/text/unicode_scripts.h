// Which script a character belongs to, for the pre-tokenizer UnicodeScripts.
#pragma once

#include <cstdint>

namespace heed::text {

// Those of Unicode 9, which the pre-tokenizer has; `any` for all characters that came later.
enum class Script : std::uint8_t {
  any,
  adlam, ahom, anatolian_hieroglyphs, arabic, armenian, avestan, balinese, bamum, bassa_vah, batak,
  bengali, bhaiksuki, bopomofo, brahmi, braille, buginese, buhid, canadian_aboriginal, carian,
  caucasian_albanian, chakma, cham, cherokee, common, coptic, cuneiform, cypriot, cyrillic,
  deseret, devanagari, duployan, egyptian_hieroglyphs, elbasan, ethiopic, georgian, glagolitic,
  gothic, grantha, greek, gujarati, gurmukhi, han, hangul, hanunoo, hatran, hebrew, hiragana,
  imperial_aramaic, inherited, inscriptional_pahlavi, inscriptional_parthian, javanese, kaithi,
  kannada, katakana, kayah_li, kharoshthi, khmer, khojki, khudawadi, lao, latin, lepcha, limbu,
  linear_a, linear_b, lisu, lycian, lydian, mahajani, malayalam, mandaic, manichaean, marchen,
  meetei_mayek, mende_kikakui, meroitic_cursive, meroitic_hieroglyphs, miao, modi, mongolian, mro,
  multani, myanmar, nabataean, new_tai_lue, newa, nko, ogham, ol_chiki, old_hungarian, old_italic,
  old_north_arabian, old_permic, old_persian, old_south_arabian, old_turkic, oriya, osage, osmanya,
  pahawh_hmong, palmyrene, pau_cin_hau, phags_pa, phoenician, psalter_pahlavi, rejang, runic,
  samaritan, saurashtra, sharada, shavian, siddham, signwriting, sinhala, sora_sompeng, sundanese,
  syloti_nagri, syriac, tagalog, tagbanwa, tai_le, tai_tham, tai_viet, takri, tamil, tangut,
  telugu, thaana, thai, tibetan, tifinagh, tirhuta, ugaritic, vai, warang_citi, yi,};

Script script_of(char32_t c);

}  // namespace heed::text
