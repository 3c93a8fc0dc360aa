// What Rust writes into the page. Only for the check of types; nothing of it is in the page.

interface Variant {
    name: string;
    run: string;
    /** Its name in the run. */
    variant: string | null;
    target: string;
    model: string;
    dataset: number;
}

interface Live {
    /** Empty where judgements are not taken. */
    token: string;
    annotations: string;
    /** Empty where the run has ended. */
    events: string;
    version: string;
}

/** How far a run is, as the server says it. */
interface News {
    done: number;
    total: number;
    going: boolean;
    version: string;
    rate: string | null;
    left: string | null;
    cost: string | null;
    age: number | null;
    failed: number;
    reason: string | null;
    newest: { id: string; variant: string; right: boolean | null }[];
}

/** A key of a judge, as in `wikitrail annotate`. */
interface JudgeKey {
    key: string;
    class: string;
    correct: boolean | null;
    about: string;
}

/** What a person said of an episode. */
interface Label {
    key: string;
    by: string;
    correct: boolean | null;
    class: string | null;
    step: number | null;
    note: string | null;
    started_at?: string | null | undefined;
}

interface Meta {
    v: number;
    report: string;
    variants: Variant[];
    datasets: string[];
    classes: string[];
    /** What the classes say. */
    meanings: string[];
    judgements: JudgeKey[];
    labels: Label[];
    repeats: number;
    chunk: number;
    left_out: number;
    live: Live | null;
}

interface VariantColumns {
    right: (0 | 1 | null)[];
    class: (number | null)[];
    outcome: (string | null)[];
    /** 1 where an episode was not measured. */
    unmeasured: (0 | 1)[];
    /** 1 where a limit cut a call. */
    cut: (0 | 1)[];
    /** 1 where judges and EM disagree. */
    disputed: (0 | 1)[];
    answer: (string | null)[];
    steps: (number | null)[];
    /** The share of the measured repeats that are right. */
    em: (number | null)[];
    /** How many repeats were measured. */
    measured: number[];
}

interface Table {
    id: string[];
    question: string[];
    gold: (string | null)[];
    type: (string | null)[];
    dataset: number[];
    chunk: (number | null)[];
    hard: number[];
    variants: VariantColumns[];
}

interface Step {
    n: string;
    /** `copied`, or what was edited there, in a branch. */
    origin: string | null;
    thought: string | null;
    action: string | null;
    observation: [string, string][] | null;
    page: string | null;
    gold: boolean;
    url: string | null;
    rev: string | null;
    source: string | null;
    note: string | null;
    discarded: string | null;
    calls: string | null;
    reasoning: string | null;
    /** Whether the episode gives its answer here. */
    ends: boolean;
}

/** What an episode branches off: two with the same key and step are a fork. */
interface Branch {
    key: string;
    parent: string;
    at: number;
    /** In words; `null` for the control. */
    edited: string | null;
}

interface Episode {
    key: string;
    started_at: string | null;
    right: boolean | null;
    outcome: string;
    detail: string | null;
    answer: string | null;
    /** Whether `em` is called accuracy, of which `f1` is the same. */
    accuracy: boolean;
    em: number | null;
    f1: number | null;
    class: string | null;
    evidence: string | null;
    readings: string[];
    grounding: string | null;
    votes: string | null;
    repairs: string | null;
    sum: string;
    branch: Branch | null;
    left_out: number;
    steps: Step[];
}

/** One of the two columns of steps. */
interface Side {
    name: string;
    episode: Episode;
    verdict: HTMLElement;
    /** Why the answer is wrong or missing. */
    reasons: string[];
}

/** Where two episodes begin to differ: the step, from 1, and its part. */
type Divergence = [number, string] | null;

interface ChunkQuestion {
    gold: string[];
    pages: string[];
    type: string | null;
    level: string | null;
    episodes: Episode[][];
    parted: Divergence[][];
}

type Chunk = Record<string, ChunkQuestion>;

/** What an address holds besides the question. */
interface Filter {
    q: string;
    show: string;
    a: string;
    b: string;
    class: string;
    variant: string;
    type: string;
    dataset: string;
    /** A column, with `-` before it in descending order; empty as in the dataset. */
    order: string;
    /** The groups of columns, joined by commas; empty for those of the page. */
    columns: string;
    left: string;
    right: string;
    repeat: string;
    /** Episodes of a sample that is judged, its seed, and the place in it, from 1. */
    sample: string;
    seed: string;
    at: string;
}

/** A column of the list. */
interface Column {
    /** What the menu of columns switches it by; empty for what is always there. */
    group: string;
    kind: string;
    /** What the address calls it. */
    key: string;
    title: string;
    /** Its variant, or -1. */
    v: number;
    /** Its width; 0 takes the rest. */
    rem: number;
    narrow: boolean;
}

/** What rows are made of. */
interface List {
    table: Table;
    meta: Meta;
    filter: Filter;
    /** Questions that only the steps made match, with the variant and the step. */
    found: Map<number, [number, string]>;
    hides: (i: number, v: number) => boolean;
    judged: (i: number) => boolean;
    of: (i: number) => string;
}

interface Place {
    view: "list" | "question" | "section";
    /** A question's id, or a section's. */
    id: string;
    /** The dataset of the question, where several have the id. */
    of: string;
    filter: Filter;
}

interface Judgement extends Label {
    v: 1;
    id: string;
    variant: string;
    repeat: number;
    at: string;
    blind: boolean;
    page_sha256: string;
    started_at?: string | undefined;
}

interface Uint8ArrayConstructor {
    fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}
