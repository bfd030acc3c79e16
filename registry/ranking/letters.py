# ruff: noqa: RUF001  letters of other scripts are what this is about
"""Folding of letters: one form for all ways of writing the same letter.

Each script has its own notion of a mere variant. An accent on a Latin or Greek letter,
a vowel sign in Hebrew or Arabic and a nukta in Hindi are left out in everyday writing,
so they are left out here; a Cyrillic breve makes another letter and stays. The form of
a word depends on the word alone, never on a guess at its language.
"""

import re
import unicodedata
from functools import lru_cache

_MAX_MARKS = 16
_COMBINING = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x1E950))))
_PILED_MARKS = re.compile(
    rf"([{re.escape(_COMBINING)}]{{{_MAX_MARKS}}})[{re.escape(_COMBINING)}]+"
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_NON_JOINER = re.compile("(?<![\u0600-\u06ff])\u200c|\u200c(?![\u0600-\u06ff])")
_INNER_APOSTROPHE = re.compile("(?<=[\u0400-\u052f])['\u2019\u02bc](?=[\u0400-\u052f])")
_NASAL_CONSONANT = re.compile(
    "[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u092d])"
)


def readable(text: str) -> str:
    """Return the text in compatibility form (UAX #15), without invisible characters.

    Marks piled on one letter are cut first: sorting them takes quadratic time.
    """
    if text.isascii():
        return text
    seen = _PILED_MARKS.sub(r"\1", _NON_JOINER.sub("", _INVISIBLE.sub("", text)))
    return _INNER_APOSTROPHE.sub("", unicodedata.normalize("NFKC", seen))


def script_of(word: str) -> str:
    """Return the first word of its first letter's Unicode name, such as LATIN."""
    return unicodedata.name(word[0], "").partition(" ")[0]


@lru_cache(maxsize=16_384)
def fold(word: str) -> str:
    """Return the form in which a casefolded word is compared; may be empty."""
    script = script_of(word)
    if script in {"LATIN", "GREEK"}:
        word = _without_marks(word)
    folded = word.translate(_FORMS)
    if script == "DEVANAGARI":
        folded = _NASAL_CONSONANT.sub("\u0902", folded)
    return folded


def with_plain_vowels(word: str) -> str:
    """Turn `mueller` into `muller`, the compared form of M\u00fcller."""
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _without_marks(word: str) -> str:
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", word)
        if not unicodedata.combining(character)
    )


_LATIN = {
    "ı": "i",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "ħ": "h",
    "ŋ": "n",
    "ə": "e",
}
_CYRILLIC = {"ё": "е", "ґ": "г", "ѐ": "е", "ѝ": "и", "\u0300": "", "\u0301": ""}
_ARABIC = {
    **dict.fromkeys("أإآٱ", "ا"),
    **dict.fromkeys("ىیېےۍ", "ي"),
    **dict.fromkeys("ةہۂەھۀ", "ه"),
    "ک": "ك",
    "ڪ": "ك",
    "ؤ": "و",
    "ئ": "ي",
    **dict.fromkeys(map(chr, (0x640, *range(0x610, 0x61B), *range(0x64B, 0x660))), ""),
    **dict.fromkeys(map(chr, (0x670, *range(0x6D6, 0x6DD), *range(0x6DF, 0x6E9))), ""),
    **dict.fromkeys(map(chr, range(0x6EA, 0x6EE)), ""),
}
_HEBREW = dict.fromkeys(map(chr, range(0x591, 0x5C8)), "")
_NUKTAS = dict.fromkeys(map(chr, range(0x93C, 0xD00, 0x80)), "") | {"ँ": "ं"}
# Characters of menus, tickets and signs: each traditional one and, below it, the simplified
# one. Neither form of a pair is used for two words.
_TRADITIONAL = (
    "餐廳飯館預訂機票車電話買賣書開關門點單選購產業務員會議詢問題頁線網絡銀帳號戶轉匯"
    "貸險醫藥齒療診檢測護養體運動場館課學習師語譯費價優惠減積現錢付訊息聯繫時間"
    "週天氣溫風雲東西國際區縣鎮鄉鐵軌輪艦飛遊覽導賓歡迎幫個這裡們來對為過還進遠"
    "說請謝讓從與應當實際將術藝樂戲劇場節畫展圖攝影視頻燈傢維修潔淨綠紅黃藍"
    "雞鴨魚蝦麵湯鍋燒滷鹹貓寵獸園樹葉種屬類別補貨倉庫遞郵寄領證簽稱備註冊錄"
    "傳輸結構組織統計總額幣匯兌換廣報導誌讀寫變復雙條約東邊壓縮盤腦軟硬體檔"
)
_SIMPLIFIED = (
    "餐厅饭馆预订机票车电话买卖书开关门点单选购产业务员会议询问题页线网络银帐号户转汇"
    "贷险医药齿疗诊检测护养体运动场馆课学习师语译费价优惠减积现钱付讯息联系时间"
    "周天气温风云东西国际区县镇乡铁轨轮舰飞游览导宾欢迎帮个这里们来对为过还进远"
    "说请谢让从与应当实际将术艺乐戏剧场节画展图摄影视频灯家维修洁净绿红黄蓝"
    "鸡鸭鱼虾面汤锅烧卤咸猫宠兽园树叶种属类别补货仓库递邮寄领证签称备注册录"
    "传输结构组织统计总额币汇兑换广报导志读写变复双条约东边压缩盘脑软硬体档"
)
_FORMS = str.maketrans(
    _LATIN
    | _CYRILLIC
    | _ARABIC
    | _HEBREW
    | _NUKTAS
    | {
        old: new
        for old, new in zip(_TRADITIONAL, _SIMPLIFIED, strict=True)
        if old != new
    }
)
