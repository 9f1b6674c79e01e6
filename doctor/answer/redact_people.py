"""People: their accounts, folders, mail, numbers and names."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from string import ascii_lowercase

from doctor.answer import redact_public as public
from doctor.answer.redact_form import Form, Span, compiled

_SEP = r"\\?[\"']?\s*(?:=>|[=:：])\s*\\?[\"'\[(]?"
_ACCOUNT = r"[A-Za-z_][\w.-]{1,31}"

# Names in Latin letters, as Chinese names are spelled: a surname and one or two syllables.
_SURNAMES = (
    "wang|li|zhang|liu|chen|yang|zhao|huang|zhou|wu|xu|sun|hu|zhu|gao|lin|he|guo|ma|luo|liang|song|zheng|xie|han|tang|feng|yu|dong|xiao|cheng|cao|yuan"
    "|deng|fu|shen|zeng|peng|lv|lu|su|jiang|cai|jia|ding|wei|xue|ye|yan|pan|du|dai|xia|zhong|tian|ren|fan|fang|shi|yao|tan|liao|zou|xiong|jin|hao|kong"
    "|bai|cui|kang|mao|qiu|qin|gu|hou|shao|meng|long|wan|duan|lei|qian|yin|yi|chang|lai|gong|ouyang|sima"
)
_SYLLABLE = (
    "(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])?"
    "(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uan|uai|ai|ei|ui|ao|ou|iu|ie|ue|er|an|en|in|un|ia|ua|uo|a|o|e|i|u|v)"
)
_SPELLED = re.compile(rf"(?:{_SURNAMES})[._-]?{_SYLLABLE}(?:{_SYLLABLE})?\d{{0,4}}")
_STAFF = re.compile(r"(?i)[a-z]{1,2}(?:wx)?(?:00|30|50|60|80|84|[1-9]\d)\d{6}|[a-z]wx\d{6,8}")

# And in Chinese: a surname and one or two characters.
_SURNAME = (
    "欧阳|司马|上官|诸葛|[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文]"
)
_SURNAMES_ZH = tuple(_SURNAME.replace("|[", "|").strip("]").replace("|", ""))  # one character each is enough to ask for
_CHINESE = rf"(?:{_SURNAME})(?:[\u4e00-\u9fff]{{1,2}}?(?=[^\u4e00-\u9fff]|$|[的已在于说反报提请处负将正未和与及从把被是为发来去给同])|[\u4e00-\u9fff]{{2}})"


@lru_cache(maxsize=4096)
def spelled(name: str) -> bool:
    """Is it spelled like the name of a person, or the number of one?"""
    low = name.lower()
    if low in public.FOLDERS:
        return False
    return (len(low) > 4 and _SPELLED.fullmatch(low) is not None) or _STAFF.fullmatch(low) is not None


def _staff(match: re.Match[str]) -> Span | None:
    """A letter and eight digits, unless they are a day."""
    digits = match["name"].lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return None if len(digits) == 8 and _day(digits) else match.span("name")


def _day(digits: str) -> bool:
    try:
        return 1900 < date(int(digits[:4]), int(digits[4:6]), int(digits[6:8])).year < 2100
    except ValueError:
        return False


def _citizen(match: re.Match[str]) -> Span | None:
    """Eighteen digits with a day of birth in them."""
    return match.span("name") if _day(match["name"][6:14]) else None


def _phone(match: re.Match[str]) -> Span | None:
    """Eleven digits, but no number of bytes: those are multiples of a small power of two."""
    digits = re.sub(r"\D", "", match["name"])[-11:]
    return match.span("name") if len(digits) < len(match["name"]) or int(digits) % 16 else None


def _folder(match: re.Match[str]) -> Span | None:
    """Somebody's folder, where folders of other things stand as well: only in this place, unless it is spelled like a name."""
    name = match["name"]
    return None if name.lower().rstrip("0123456789_-") in public.FOLDERS or name.lower() in public.FOLDERS or spelled(name) else match.span("name")


def _person(match: re.Match[str]) -> Span | None:
    """`user liming has` tells of one, `user space is` does not."""
    name = match["name"]
    return match.span("name") if spelled(name) or (name.islower() and any(c.isdigit() for c in name)) else None


def _in_shared(match: re.Match[str]) -> Span | None:
    """A folder called like a person, somewhere below where people share a disk."""
    if not spelled(match["name"]):
        return None
    return match.span("name") if _BELOW.search(match.string[max(0, match.start() - 120) : match.start()]) else None


def _home(match: re.Match[str]) -> Span | None:
    """`/users/NAME`, but no file of a module that is called so."""
    return None if _SUFFIX.search(match["name"]) and not match[0].lower().startswith("/home") else match.span("name")


def _long_listing(match: re.Match[str]) -> Span | None:
    return None if match["name"].isdigit() else match.span("name")


_SUFFIX = re.compile(r"\.[A-Za-z]{1,4}$")
_SHARED_FOLDERS = (
    "data|disk|nvme|ssd|mnt|nfs|nas|share|shared|sharedata|workspace|work|scratch|gpfs|lustre|cephfs|ceph|dfs|storage|store|cache|srv|export|project|projects|sfs|obs|efs|efs_data|home_data|raid|vol|volume|hdd|public"
)
_SHARED = rf"(?:{_SHARED_FOLDERS})"
_SHARED_NEEDS = tuple(f"/{folder}" for folder in _SHARED_FOLDERS.split("|"))
_BELOW = compiled(rf"(?i)/{_SHARED}\d{{0,2}}/(?:[\w.-]{{1,30}}/){{0,3}}$")
_TERMINAL, _TERMINALS = r"(?:\?|pts/\d+|tty\w*)", (" ? ", " pts/", " tty")
_MODE = r"[-dlbcps][-rwxsStT]{9}[.+@]? +\d+ +"
_SINCE = r"(?=\d+,? +(?:\d+ +)?(?:[A-Z][a-z]{2} +\d|\d{4}-\d\d|\d{1,2}月))"

FORMS = (
    Form("email", compiled(r"(?<![\w.+-])(?P<name>[\w.+-]{1,64}@(?!\d+\.\d)[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})(?![\w-])"), ("@",)),
    Form("phone", compiled(r"(?P<name>[+801](?<![\w.+-].)(?:(?<=[+8])8?6[- ]?1|(?<=1))[3-9]\d[- ]?\d{4}[- ]?\d{4}|0(?<![\w.+-].)(?:10|2\d|[3-9]\d\d)-\d{7,8})(?![\w.%-])"), (*(f"1{n}" for n in range(3, 10)), "010-", *(f"0{n}" for n in range(20, 100))), _phone),
    Form("phone", compiled(r"(?i)(?:\b(?:phone|mobile|tel|cell|telephone|fax)(?: ?(?:no|number))?|手机号?码?|电话号?码?|联系方式|座机|传真)\\?[\"']?\s*(?:[=:：为是]\s*)?\\?[\"']?(?P<name>\+?\d[\d -]{5,18}\d)(?![\w.])"), ("phone", "mobile", "tel", "cell", "fax", "手机", "电话", "联系方式", "座机", "传真")),
    Form("number", compiled(r"(?P<name>[1-8](?<![\w.].)[1-7]\d{4}(?:19|20)\d{9}[\dXx])(?![\w.])"), tuple(map(str, range(193, 202))), _citizen),
    Form("number", compiled(r"(?:身份证(?:号码?)?|工号|员工编号|社保号|银行卡号?|卡号|护照号?|车牌号?|QQ号?|微信号?|学号)\\?[\"']?\s*(?:[=:：为是]\s*)?\\?[\"']?(?P<name>[A-Za-z\u4e00-\u9fff]{0,2}[A-Za-z0-9_-]{4,24})"), ("身份证", "工号", "员工", "社保", "卡号", "银行卡", "护照", "车牌", "qq", "微信", "学号")),
    Form("number", compiled(r"(?i)\b(?:employee|staff|passport|id[ _]?card|wechat|qq)(?:[ _]?(?:id|no|number))?\\?[\"']?\s*[=:：]\s*\\?[\"']?(?P<name>[a-z]{0,3}\d{5,20}[x]?)(?![\w.])"), ("employee", "staff", "passport", "card", "wechat", "qq")),
    Form("person", compiled(r"\b(?i:author|reported by|signed-off-by|reviewed-by|co-authored-by|submitted by|assignee|contact|full ?name|real ?name|display ?name|gecos)[\"']?: *[\"']?(?P<name>[A-Z][a-z]{1,20}(?: [A-Z][a-z.]{0,20}){1,2})"), ("author", "by", "assignee", "contact", "name", "gecos")),
    Form("user", compiled(r"(?P<name>[A-Za-z](?<![\w.-].)[A-Za-z]?(?:(?:00|30|50|60|80|84)\d{6}|(?<=\w)wx\d{6,8}))(?![\w-])"), (*(f"{a}{n}" for a in ascii_lowercase for n in ("00", "30", "50", "60", "80", "84")), "wx"), _staff),
    Form("user", compiled(r"(?i)/(?:home\d{0,2}|users?|homes|home_data|userdata|user_data|people|staff|members|staffs)/(?P<name>[^\s/\\\"'<>|:;,()\[\]]{1,64})(?=/|[\s\"':;,)\]]|$)"), ("/home", "/user", "/people/", "/staff", "/members/"), _home),
    Form("user", compiled(r"(?i)\\Users\\{1,2}(?P<name>[^\s\\/\"'<>|:;,]{1,64})"), ("users\\",)),
    Form("user", compiled(r"(?i)(?<=/)(?P<name>[a-z][a-z0-9._-]{2,31})(?=/|[\s\"',:;)\]]|$)"), _SHARED_NEEDS, _in_shared),
    Form("user", compiled(r"(?i)(?<![\w/])/(?:data|disk|nvme|ssd|mnt|nfs|nas|share|shared|workspace|work|scratch)\d{0,2}/(?P<name>[a-z]{3,16}\d{0,4})(?=/)"), _SHARED_NEEDS, _folder, learnt=False),
    Form("user", compiled(r"(?<![\w/~.])~(?P<name>[a-z_][\w-]{2,31})(?=/)"), ("~",)),
    Form("user", compiled(r"\b(?:[ug]id|groups|euid|auid)=\d+\((?P<name>[\w.-]+)\)"), ("id=", "groups=")),
    Form("user", compiled(rf"(?i)(?<![A-Za-z])(?:user|username|user_name|user-name|login|logname|owner|sudo_user|ruser|submitter|author|creator|created_by|assignee|reporter|maintainer|账号|帐号|用户名?|属主){_SEP}(?P<name>{_ACCOUNT})"),
         ("user", "login", "logname", "owner", "submitter", "author", "creator", "created_by", "assignee", "reporter", "maintainer", "账号", "帐号", "用户", "属主")),
    Form("user", compiled(rf"(?i)\b(?:for|by|of|as|to|from|user) (?:invalid )?user [\"'‘`]?(?P<name>{_ACCOUNT})"), ("user",)),
    Form("user", compiled(rf"(?i)\buser (?P<name>{_ACCOUNT})(?= (?:logged|from|has|is|was|failed|does|cannot|denied|submitted|started|killed|not)\b)"), ("user ",), _person),
    Form("user", compiled(r"(?i)\buser [\"'‘`](?P<name>[\w.@-]{2,32})[\"'’`]"), ("user",)),
    Form("user", compiled(rf"(?i)\b(?:publickey|password) for (?:invalid user )?(?P<name>{_ACCOUNT})(?= from)"), ("publickey for", "password for")),
    Form("user", compiled(rf"(?i)\b(?:sudo|su|runuser|gosu|chroot)(?: -[a-z]*)? -(?:u|l) +(?P<name>{_ACCOUNT})"), ("sudo", "su ", "runuser", "gosu", "chroot")),
    Form("user", compiled(r"\blogged in as:? [\"'`]?(?P<name>[\w.-]{2,64})"), ("logged in as",)),
    Form("user", compiled(r"\blogged in as:? \S{2,70} \((?P<name>[\w.-]{2,64})\)"), ("logged in as",)),
    Form("user", compiled(r"\bwandb\.ai/(?!(?:site|home|authorize|settings|docs|login|signup|api)\b)(?P<name>[\w.-]{2,64})"), ("wandb.ai/",)),
    Form("user", compiled(r"\bswanlab\.\w{2,4}/@(?P<name>[\w.-]{2,64})"), ("swanlab.",)),
    Form("user", compiled(r"(?:\bgit@[^\s:/]{1,100}|<email(?:-[\w-]{1,20})?>):(?P<name>[\w.-]{2,64})(?=/)"), ("git@", "<email")),
    Form("user", compiled(r"\bipmitool\b[^\n|;]{0,200}? -U[ =]*(?P<name>[\w.-]{2,32})"), ("ipmitool",)),
    Form("user", compiled(r"\bsu - (?P<name>[a-z_][\w.-]{1,31})\b"), ("su - ",)),
    Form("user", compiled(r"\bsudo: +(?P<name>[a-z_][\w.-]{1,31}) : "), ("sudo:",)),
    Form("user", compiled(r"\bCRON\[\d+\]: \((?P<name>[a-z_][\w.-]{1,31})\)"), ("cron[",)),
    Form("user", compiled(r"(?i)\b(?:chown|chgrp|usermod|useradd|userdel)(?: -\w+)* (?P<name>[a-z_][a-z0-9_.-]{2,31})(?=:| |$)(?![^\n]{0,3}=)"), ("chown ", "chgrp ", "usermod ", "useradd ", "userdel ")),
    Form("user", compiled(rf"(?i)\bssh (?:-\w+ (?:\S+ )??){{0,6}}-l +(?P<name>{_ACCOUNT})"), ("ssh ",)),
    Form("user", compiled(rf"(?:^|(?<=[\s\[(\"'=]))(?P<name>{_ACCOUNT})(?=@(?!sha256)(?:[A-Za-z<][\w.>-]*)(?:[:\s\])$#~\"']|$))", re.MULTILINE), ("@",)),
    Form("user", compiled(rf"{_MODE}(?P<name>\S{{1,32}}) +\S{{1,32}} +{_SINCE}"), ("rw", "r-x", "--x"), _long_listing),
    Form("user", compiled(rf"{_MODE}\S{{1,32}} +(?P<name>\S{{1,32}}) +{_SINCE}"), ("rw", "r-x", "--x"), _long_listing),
    Form("user", compiled(rf"(?<!\S)(?P<name>[A-Za-z_][\w.+-]{{1,31}}) +\d+ +[\d.]+ +[\d.]+ +\d+ +\d+ +{_TERMINAL} +[A-Za-z<+]{{1,5}} "), _TERMINALS),
    Form("user", compiled(rf"(?<!\S)(?P<name>[A-Za-z_][\w.+-]{{1,31}}) +\d+ +\d+ +\d+ +(?:\d\d:\d\d|[A-Z][a-z]{{2}}\d\d|\d{{4}}) +{_TERMINAL} +(?:\d+-)?\d\d:\d\d:\d\d "), _TERMINALS),
    Form("user", compiled(r"(?<!\S)\d+ +(?P<name>[A-Za-z_][\w.+-]{1,31}) +(?:-?\d+|rt) +-?\d+ +[\d.]+[gmt]? +[\d.]+[gmt]? +[\d.]+[gmt]? +[RSDTZI] "), (" r ", " s ", " d ", " i ", " z ")),
    Form("user", compiled(r"(?<!\S)(?P<name>[a-z_][\w.-]{1,31}) +(?:pts/\d+|tty\d+|:\d) "), ("pts/", "tty", ":0")),
    Form("person", compiled(rf"(?:姓名|联系人|负责人|责任人|经办人|申请人|提单人|创建人|创建者|作者|处理人|值班人?|值班员|工程师|操作人|操作员|审批人|提交人|提交者|报告人|维护人|管理员|客户|同事|接口人|对接人|使用人|归属人|用户名?|运维|研发|测试|owner|Owner|by|@) ?(?:[=:：为是] ?)?[“\"']?(?P<name>{_CHINESE})"),
         ("姓名", "人", "者", "员", "值班", "工程师", "客户", "同事", "用户", "运维", "研发", "测试", "owner", "by", "@")),
    Form("person", compiled(rf"(?P<name>{_SURNAME}[\u4e00-\u9fff]{{1,2}})(?= ?[(（/]? ?(?:[A-Za-z]{{1,2}}\d{{8}}|<user-|[a-z]wx\d|1[3-9]\d{{9}}|<phone-))"), _SURNAMES_ZH),
    Form("person", compiled(rf"(?P<name>{_SURNAME})(?=(?:工|总|经理|老师|博士|主任)[，,：: 。反说在的])"), ("工", "总", "经理", "老师", "博士", "主任"), learnt=False),
)  # fmt: skip
