//! Words of Chinese at large: surnames, nouns that ask for a kind of thing, words alike, places, small words.

/// What a noun stands for, and so how its name is found in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Person,
    /// What stands between `《》`.
    Work,
    City,
    Country,
    Province,
    Dynasty,
    /// What ends in one of these: rivers, mountains, universities.
    Ending(&'static [&'static str]),
    /// Any place.
    Place,
}

const RIVER: Sort = Sort::Ending(&["江", "河", "水", "溪"]);
const MOUNTAIN: Sort = Sort::Ending(&["山", "峰", "岳", "岭"]);
const LAKE: Sort = Sort::Ending(&["湖", "池", "泊"]);
const SCHOOL: Sort = Sort::Ending(&["大学", "学院", "学校", "学堂"]);

/// Nouns behind `哪…` and `的`, with what they stand for; of two that fit, the longer counts.
const NOUNS: &[(&str, Sort)] = &[
    ("城市", Sort::City),
    ("城", Sort::City),
    ("首都", Sort::City),
    ("国家", Sort::Country),
    ("省份", Sort::Province),
    ("省", Sort::Province),
    ("朝代", Sort::Dynasty),
    ("时代", Sort::Dynasty),
    ("地方", Sort::Place),
    ("地区", Sort::Place),
    ("河流", RIVER),
    ("江河", RIVER),
    ("河", RIVER),
    ("江", RIVER),
    ("支流", RIVER),
    ("山峰", MOUNTAIN),
    ("山脉", MOUNTAIN),
    ("山", MOUNTAIN),
    ("湖泊", LAKE),
    ("湖", LAKE),
    ("大学", SCHOOL),
    ("学院", SCHOOL),
    ("学校", SCHOOL),
    ("桥", Sort::Ending(&["桥"])),
    ("大桥", Sort::Ending(&["桥"])),
    ("岛屿", Sort::Ending(&["岛"])),
    ("岛", Sort::Ending(&["岛"])),
    ("公司", Sort::Ending(&["公司", "集团"])),
    ("寺庙", Sort::Ending(&["寺", "庙"])),
    ("奖项", Sort::Ending(&["奖"])),
    ("奖", Sort::Ending(&["奖"])),
    ("定律", Sort::Ending(&["定律", "定理", "理论"])),
    ("小说", Sort::Work),
    ("小说集", Sort::Work),
    ("作品", Sort::Work),
    ("著作", Sort::Work),
    ("书", Sort::Work),
    ("医书", Sort::Work),
    ("书籍", Sort::Work),
    ("杂志", Sort::Work),
    ("刊物", Sort::Work),
    ("报纸", Sort::Work),
    ("电影", Sort::Work),
    ("影片", Sort::Work),
    ("纪录片", Sort::Work),
    ("话剧", Sort::Work),
    ("剧本", Sort::Work),
    ("京剧", Sort::Work),
    ("歌剧", Sort::Work),
    ("歌曲", Sort::Work),
    ("诗集", Sort::Work),
    ("诗", Sort::Work),
    ("画", Sort::Work),
    ("导演", Sort::Person),
    ("编剧", Sort::Person),
    ("主演", Sort::Person),
    ("工程师", Sort::Person),
    ("建筑师", Sort::Person),
    ("工匠", Sort::Person),
    ("作家", Sort::Person),
    ("画家", Sort::Person),
    ("诗人", Sort::Person),
    ("作曲家", Sort::Person),
    ("音乐家", Sort::Person),
    ("科学家", Sort::Person),
    ("物理学家", Sort::Person),
    ("数学家", Sort::Person),
    ("药学家", Sort::Person),
    ("医学家", Sort::Person),
    ("小说家", Sort::Person),
    ("剧作家", Sort::Person),
    ("教育家", Sort::Person),
    ("演员", Sort::Person),
    ("歌手", Sort::Person),
    ("学者", Sort::Person),
    ("校长", Sort::Person),
    ("皇帝", Sort::Person),
    ("国王", Sort::Person),
    ("总统", Sort::Person),
    ("主席", Sort::Person),
    ("父亲", Sort::Person),
    ("母亲", Sort::Person),
    ("祖父", Sort::Person),
    ("儿子", Sort::Person),
    ("女儿", Sort::Person),
    ("孙子", Sort::Person),
    ("妻子", Sort::Person),
    ("丈夫", Sort::Person),
    ("老师", Sort::Person),
    ("学生", Sort::Person),
    ("人物", Sort::Person),
];

/// Measure words behind `哪`, `几` and a number.
pub(super) const MEASURES: &[char] = &[
    '个', '座', '位', '部', '本', '条', '所', '家', '种', '首', '篇', '幅', '张', '名', '届', '项', '片', '处', '任',
    '卷', '回', '次', '米', '岁', '级', '孔', '度', '只', '支', '间', '层',
];

/// The noun at the start of `text`, and its sort.
pub(super) fn noun_at(text: &str) -> Option<(&'static str, Sort)> {
    NOUNS.iter().filter(|(noun, _)| text.starts_with(noun)).max_by_key(|(noun, _)| noun.len()).copied()
}

/// Words that say alike; each is looked for where one of them is asked for.
pub(super) const ALIKE: &[&[&str]] = &[
    &["作曲", "谱曲", "曲作"],
    &["作词", "填词", "词作"],
    &["作者", "创作", "撰写", "写成", "写作", "写", "著"],
    &["设计"],
    &["导演", "执导"],
    &["创办", "创立", "创建", "创刊"],
    &["主持", "修建", "建造", "兴建", "督造"],
    &["出生", "生于", "诞生"],
    &["去世", "逝世", "病逝", "身亡", "卒于", "死于", "病故", "遇难"],
    &["毕业", "就读", "学位"],
    &["原著", "改编", "根据"],
    &["发表", "刊登", "连载", "问世", "出版"],
    &["获得", "荣获", "得到", "获"],
    &["位于", "坐落", "建在", "所在"],
    &["孙子", "祖父"],
    &["儿子", "女儿", "父亲", "母亲"],
    &["妻子", "丈夫", "夫人", "结婚"],
    &["记载", "记录"],
    &["收录", "收入"],
    &["隐居"],
    &["上映", "公映"],
    &["通车", "开通"],
    &["建成", "完工", "落成", "完成"],
    &["成立", "建立", "组建"],
    &["发明"],
    &["发现"],
    &["注入", "流入", "汇入"],
    &["发源", "源头", "源于"],
    &["海拔"],
    &["全长"],
    &["面积"],
    &["跨度"],
];

/// Words for the beginning and the end of a life, which stand in brackets behind a name.
pub(super) const BIRTH: &[&str] = &["出生", "生于", "诞生", "年长", "年轻", "年纪"];
pub(super) const DEATH: &[&str] = &["去世", "逝世", "病逝", "身亡", "卒于", "死于"];

/// Small words at which a run of characters ends.
pub(super) const SMALL: &str = "的了是在于和与把被由从到其那这该之曾也都又就吗呢有为他她它们等及将让给";

/// Words behind which the name of the anchor of a question has ended.
pub(super) const VERBS: &[&str] =
    &["是", "在", "位于", "由", "出生", "去世", "逝世", "毕业", "获得", "发表", "写", "于", "所在", "创作", "有", "为"];

/// The commonest surnames of one character.
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤常温康施洪牛屠茅冼聂毕葛齐梅老巩焦凌毋鲁殷光关宗管舒冰翁柳岳申费祝庄岑霍阮柯蓝褚倪";
/// Those of two.
const LONG_SURNAMES: &[&str] =
    &["欧阳", "司马", "诸葛", "上官", "皇甫", "尉迟", "公孙", "令狐", "慕容", "司徒", "东方"];

pub(super) fn is_surname(c: char) -> bool {
    SURNAMES.contains(c)
}

pub(super) fn is_long_surname(first: char, second: char) -> bool {
    LONG_SURNAMES.iter().any(|name| name.chars().eq([first, second]))
}

pub(super) const PROVINCES: &[&str] = &[
    "河北",
    "山西",
    "辽宁",
    "吉林",
    "黑龙江",
    "江苏",
    "浙江",
    "安徽",
    "福建",
    "江西",
    "山东",
    "河南",
    "湖北",
    "湖南",
    "广东",
    "海南",
    "四川",
    "贵州",
    "云南",
    "陕西",
    "甘肃",
    "青海",
    "台湾",
    "内蒙古",
    "广西",
    "西藏",
    "宁夏",
    "新疆",
];

pub(super) const COUNTRIES: &[&str] = &[
    "中国",
    "日本",
    "美国",
    "英国",
    "法国",
    "德国",
    "俄国",
    "俄罗斯",
    "苏联",
    "意大利",
    "西班牙",
    "葡萄牙",
    "荷兰",
    "比利时",
    "瑞士",
    "瑞典",
    "挪威",
    "丹麦",
    "芬兰",
    "波兰",
    "奥地利",
    "匈牙利",
    "捷克",
    "希腊",
    "土耳其",
    "埃及",
    "印度",
    "巴基斯坦",
    "伊朗",
    "伊拉克",
    "以色列",
    "泰国",
    "越南",
    "缅甸",
    "马来西亚",
    "新加坡",
    "印度尼西亚",
    "菲律宾",
    "韩国",
    "朝鲜",
    "蒙古",
    "加拿大",
    "墨西哥",
    "巴西",
    "阿根廷",
    "智利",
    "秘鲁",
    "澳大利亚",
    "新西兰",
    "南非",
    "尼泊尔",
    "爱尔兰",
    "冰岛",
];

pub(super) const DYNASTIES: &[&str] = &[
    "夏朝",
    "商朝",
    "商代",
    "西周",
    "东周",
    "春秋",
    "战国",
    "秦朝",
    "秦代",
    "西汉",
    "东汉",
    "汉代",
    "汉朝",
    "三国",
    "西晋",
    "东晋",
    "南朝",
    "北朝",
    "隋代",
    "隋朝",
    "唐代",
    "唐朝",
    "五代",
    "北宋",
    "南宋",
    "宋代",
    "宋朝",
    "辽代",
    "金代",
    "元代",
    "元朝",
    "元末明初",
    "明代",
    "明朝",
    "清代",
    "清朝",
    "民国",
];
