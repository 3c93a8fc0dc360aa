"""What runs hold. Made by scripts/python_types.py from docs/schema and docs/columns.md."""

# ruff: noqa: E501

from typing import Any, Literal, NotRequired, TypedDict


class Usage(TypedDict):
    """Counted tokens."""

    prompt_tokens: int  # tokens of the prompt
    completion_tokens: int  # tokens of the completion
    cached_tokens: NotRequired[int]  # tokens of prompts that the provider had kept from earlier requests; absent if the provider does not count them
    cache_write_tokens: NotRequired[int]  # tokens of prompts that the provider kept for later requests; absent if the provider does not count them
    reasoning_tokens: NotRequired[int]  # tokens of completions that were reasoning; absent if the provider does not count them
    unsplit_tokens: NotRequired[int]  # tokens of which another program does not say whether they are of prompts or of completions; absent if 0


class CallCalls(TypedDict):
    id: str  # what the result refers to
    name: str
    arguments: str  # the arguments as the model wrote them: a JSON object, if all is well


class CallVerbatim(TypedDict):
    """The reply as its provider wrote it, where that has to be sent back: it holds signed or encrypted reasoning."""

    endpoint: str  # the API that wrote it
    content: Any  # in the provider's own form


class CallSent(TypedDict):
    """The request, where another program wrote it."""

    endpoint: str  # the API: `chat`, `completions`, `responses`, `messages` or `generateContent`
    model: NotRequired[str]  # the model, where the address names it and not the body
    stream: NotRequired[bool]  # whether a stream was asked for, where the address says so and not the body; absent if not
    same: NotRequired[dict[str, Any]]  # how many entries at the start of a list are those of the same list in the request before, by the list's field
    body: dict[str, Any]  # the body as it was sent, without these entries


class Call(TypedDict):
    """One model call."""

    prompt_sha256: str | Literal['']  # of the exact prompt; empty in imported runs, whose prompts are not known
    prompt_chars: int  # length of the prompt in characters
    stop: list[str]  # stop sequences of the request
    completion: str  # the completion, cut before the first stop
    calls: NotRequired[list[CallCalls]]  # the functions that the model called, in order; absent if none
    verbatim: NotRequired[CallVerbatim]  # the reply as its provider wrote it, where that has to be sent back: it holds signed or encrypted reasoning
    reasoning: NotRequired[str]  # the reasoning before it, at most 64 KiB of it; empty where the server does not show it
    finish_reason: str | None  # why the server stopped, where it says so
    cause: NotRequired[Literal['token_limit', 'content_filter', 'refusal', 'context_overflow', 'empty', 'malformed_call', 'key', 'payment', 'forbidden', 'not_found', 'unknown_model', 'quota', 'connection_refused', 'unknown_host', 'tls', 'bad_request', 'rate_limit', 'server_error', 'timeout', 'connection', 'bad_answer', 'unknown_reason', 'not_the_wiki', 'recording', 'other']]  # why the completion is less than the model's whole answer, where it is
    at_limit: NotRequired[bool]  # whether the completion has as many tokens as the limit allows, although the server says that it ended by itself; absent if not
    usage: Usage | None  # tokens, where the server counts them
    started_at: NotRequired[str]  # when the call began, RFC 3339 in UTC; absent in records of earlier versions
    latency_ms: int  # time of the call in milliseconds, waiting included
    attempts: int  # how often the request was sent; 0 when it never left the process
    cached: bool  # whether the answer came from a store
    copied: NotRequired[bool]  # whether it was copied from the episode that this one branches off; absent if not
    sent: NotRequired[CallSent]  # the request, where another program wrote it


class Hit(TypedDict):
    id: str  # the passage's id; empty where a retriever gives none
    title: str  # title of its page; empty where a retriever gives none
    rank: int  # its place, from 1
    score: NotRequired[float]  # the retriever's score
    shown: int  # characters of its text in the observation
    sentences: NotRequired[list[list[int]]]  # as those of the page


class Provenance(TypedDict):
    """Where an observation came from."""

    source: str  # `html`, `api`, `corpus`, …
    url: str  # where it was read
    title: str  # title of the page, or the query of a result list
    pageid: NotRequired[int]  # MediaWiki's number of the page
    revid: NotRequired[int]  # MediaWiki's number of the revision
    status: int  # HTTP status; 200 for sources without one
    fetched_at: str  # RFC 3339 in UTC; empty for frozen sources
    sha256: str  # SHA-256 of the answer as received, or of an article's text in a corpus; the corpus's id where it has no page of that name
    sentences: NotRequired[list[list[int]]]  # which given sentences are whole in the observation: [block, from, to]
    hits: NotRequired[list[Hit]]  # the passages of the tool passages, the best first


class Step(TypedDict):
    """One step."""

    n: int  # number of the step
    sample: NotRequired[int]  # which sample of a vote it belongs to; absent for steps of an agent
    thought: str | None  # what the model thought
    tool: Literal['search', 'lookup', 'passages', 'document', 'finish', 'think', 'invalid', 'other', None]  # the tool used; null when the episode ended before one was
    input: str | None  # the tool's argument
    action_text: str | None  # the action as the model wrote it
    observation: str | None  # what the tool answered
    provenance: Provenance | None
    note: NotRequired[str]  # what the tool's record adds
    tool_started_at: NotRequired[str]  # when the tool was used, RFC 3339 in UTC; absent where no tool was asked, and in records of earlier versions
    tool_ms: NotRequired[int]  # time that its answer took in milliseconds, waiting included
    discarded: NotRequired[str]  # model text after the action that was set aside
    calls: list[Call]  # the model calls that led to the step


class EpisodeFailure(TypedDict):
    """Who failed and why, where that ended the episode."""

    service: Literal['model', 'wikipedia']
    cause: Literal['token_limit', 'content_filter', 'refusal', 'context_overflow', 'empty', 'malformed_call', 'key', 'payment', 'forbidden', 'not_found', 'unknown_model', 'quota', 'connection_refused', 'unknown_host', 'tls', 'bad_request', 'rate_limit', 'server_error', 'timeout', 'connection', 'bad_answer', 'unknown_reason', 'not_the_wiki', 'recording', 'other']


class EpisodeRepairs(TypedDict):
    """A deviation from the protocol that was mended."""

    step: int  # the step
    kind: str  # what was mended


class EpisodeVotes(TypedDict):
    """An answer among the samples of a vote."""

    answer: str  # as it was first given
    normalized: str  # the form under which it is counted
    count: int  # how many samples gave it


class EpisodeBranchEdit(TypedDict):
    """What was edited; absent for the control, neutral in a placebo."""

    part: str  # thought, action, observation, model, prompt, protocol or formatting, or several joined by +
    sha256: str
    text: str


class EpisodeBranch(TypedDict):
    """The episode that this one branches off."""

    run: str  # the run's folder, as it was named
    key: str  # the key of that episode
    variant: str
    id: str
    repeat: int
    at: int  # the step from which on it differs; those before are copied
    edit: NotRequired[EpisodeBranchEdit]  # what was edited; absent for the control, neutral in a placebo
    by: str  # what chose the edit: hand, the rule of --with, or placebo


class EpisodeScore(TypedDict):
    """Null where it was not measured or the gold is hidden."""

    em: float
    f1: float
    precision: float
    recall: float


class Episode(TypedDict):
    """One episode: one question under one variant, once."""

    v: Literal[1]  # format version
    id: str  # id of the question
    index: NotRequired[int]  # position in the dataset file, from 0
    variant: str  # name of the variant in the manifest
    repeat: int  # which repeat, from 0
    question: str  # the text put to the agent
    answers: list[str]  # gold answers, the official one first; empty when hidden
    steps: list[Step]
    steps_recorded: NotRequired[Literal[False]]  # false where another program ran the episode and its steps are not known; absent otherwise
    answer: str | None  # the answer given
    outcome: Literal['finished', 'agent_failure', 'step_limit', 'format_failure', 'context_overflow', 'budget', 'not_measured']
    detail: NotRequired[str]  # the reason, where the outcome needs one
    failure: NotRequired[EpisodeFailure]  # who failed and why, where that ended the episode
    usage: Usage
    cost_usd: NotRequired[float]  # cost in US dollars, where prices are known
    started_at: str | Literal['']  # RFC 3339 in UTC; empty in imported runs, whose time is not known
    wall_ms: int  # duration in milliseconds, waiting included
    compat: Literal['paper', 'fixed', None]  # null in imported runs, whose tools are not known
    scores: NotRequired[dict[str, Any]]  # what another program's scorers, or the agent itself, say of it, by the metric's name
    repairs: list[EpisodeRepairs]
    votes: NotRequired[list[EpisodeVotes]]  # most first, ties by first seen
    branch: NotRequired[EpisodeBranch]  # The episode that this one branches off
    key: str  # SHA-256 over everything that decides the episode
    run: str  # name of the run's folder
    score: EpisodeScore | None  # null where it was not measured or the gold is hidden


class Log(TypedDict):
    """What a log of another program says of its run."""

    path: str  # the file as it was named
    sha256: str  # of its bytes
    variant: str  # the variant that its answers are
    status: NotRequired[str]  # how its run ended, in its own words
    planned: NotRequired[int]  # episodes that it planned
    samples: int  # samples that it has
    said: NotRequired[dict[str, Any]]  # what it says of task, solver and settings, as it has them


class Voting(TypedDict):
    """How a vote is held."""

    samples: int  # samples drawn
    temperature: float
    majority: float


class Price(TypedDict):
    """What a model's tokens cost, in US dollars a million."""

    prompt: float  # a million tokens of prompt
    completion: float  # a million tokens of completion
    cached: NotRequired[float]  # a million tokens of prompt that the provider had kept; absent where they cost what others cost, or nothing is known
    cache_write: NotRequired[float]  # a million tokens of prompt that the provider keeps for later requests; absent in the same way
    as_of: NotRequired[str]  # the day for which it is said
    source: NotRequired[str]  # the page that says it


class Decoding(TypedDict):
    """Sampling settings; null in imported runs, where they are not known."""

    temperature: float | None
    top_p: float | None
    max_tokens: int | None  # tokens of a reply at most
    seed: NotRequired[int]  # seed for servers that take one
    reasoning: NotRequired[Literal['off', 'low', 'medium', 'high'] | int]  # how much to reason, by a name or up to a number of tokens; absent for the model's own way
    extra_body: NotRequired[dict[str, Any]]  # fields that are added to the body of each request; absent if none are


class Variant(TypedDict):
    """One way of answering."""

    name: str  # unique within the run
    repeats: NotRequired[int]  # how often each question is run under it, where that is not the run's number: the placebos of a branch
    protocol: str  # id of the protocol
    protocol_version: NotRequired[int]  # version of the protocol, absent for the first
    options: NotRequired[dict[str, Any]]  # options of the protocol
    method: Literal['standard', 'cot', 'cot-sc', 'act', 'react', 'react->cot-sc', 'cot-sc->react', 'unknown']
    voting: NotRequired[Voting]
    oracle_context: NotRequired[Literal[True]]  # the gold paragraphs were shown
    max_steps: int | None  # step limit; null in imported runs, where it is not known
    prompt: str  # as named
    prompt_sha256: str | Literal['']  # of the rendered prompt; empty in imported runs, whose prompt is not known
    direct_prompt_sha256: NotRequired[str]
    texts: NotRequired[str]  # file of protocol texts, as named
    instruction: NotRequired[str]  # file with the instruction before a finished text, as named
    shots: NotRequired[int]  # exemplars that were asked for; absent for all
    exemplar_order: NotRequired[Literal['reversed', 'shuffled']]  # absent for the file's order
    exemplar_seed: NotRequired[int]  # of the order `shuffled`
    question_label: str  # label before the question
    model: str  # as named
    endpoint: Literal['chat', 'chat+prefill', 'completions', 'messages', 'messages+prefill', 'generateContent', 'none', 'unknown']
    base_url: NotRequired[str]  # of several, joined by `,`
    price: NotRequired[Price]
    decoding: Decoding
    direct_max_tokens: NotRequired[int]  # of the direct part of a back-off
    wiki: str  # as named
    wiki_origin: NotRequired[str]  # base URL of the site, address of the retriever, or identity of the corpus
    compat: Literal['paper', 'fixed', None]  # null in imported runs, whose tools are not known
    wording: NotRequired[Literal['chinese']]
    not_sent: NotRequired[list[Literal['temperature', 'top_p', 'seed', 'stop', 'cache_control']]]  # options that the model's server refuses, or that the provider does not know: requests were sent without them
    settings: NotRequired[dict[str, Any]]  # Settings without a field of their own, by name, where they were set


class DatasetColumns(TypedDict):
    """Columns or keys that were named instead of ours."""

    question: NotRequired[str]
    answer: NotRequired[str]
    id: NotRequired[str]
    answer_separator: NotRequired[str]  # what stands between the answers in a cell


class Selection(TypedDict):
    """What was asked for; empty for everything."""

    ids: NotRequired[list[str]]
    types: NotRequired[list[str]]
    shuffle: NotRequired[int]  # seed of our own shuffle
    shuffle_like_paper: NotRequired[int]  # seed of Python's shuffle
    limit: NotRequired[int]  # at most so many


class Dataset(TypedDict):
    """The dataset and what was selected from it."""

    name: str
    path: str  # as named
    format: NotRequired[str]  # the format that was read
    columns: NotRequired[DatasetColumns]  # columns or keys that were named instead of ours
    sha256: str
    questions: int  # in the file
    selection: Selection
    ids_file: NotRequired[str]  # the file of --ids as it was named
    selected: int  # questions selected


class Experiment(TypedDict):
    """The experiment that the run is a part of."""

    name: str
    path: str  # the file, as named
    sha256: str
    baseline: NotRequired[str]  # name of the variant that others are compared with
    contrasts: NotRequired[list[list[str]]]  # the only pairs of variants to compare, each read as the second minus the first
    datasets: NotRequired[list[str]]  # names of the datasets, where there are several
    dataset: NotRequired[str]  # which of several datasets this run is over


class PaidUsage(TypedDict):
    """Their tokens, estimated where not counted."""

    prompt_tokens: int  # tokens of prompts
    completion_tokens: int  # tokens of completions
    cached_tokens: NotRequired[int]  # tokens of prompts that the provider had kept from earlier requests; absent if the provider does not count them
    cache_write_tokens: NotRequired[int]  # tokens of prompts that the provider kept for later requests; absent if the provider does not count them
    reasoning_tokens: NotRequired[int]  # tokens of completions that were reasoning; absent if the provider does not count them


class Paid(TypedDict):
    """Model calls that a server answered."""

    calls: int  # their number
    uncounted: int  # those whose tokens the server did not count
    usage: PaidUsage  # their tokens, estimated where not counted


LimitChange = TypedDict("LimitChange", {"at_ms": int, "from": int, "to": int, "reason": Literal['growth', 'no_gain', 'smaller_trial', 'rate_limit', 'overload', 'timeout', 'slow_start', 'steady_growth', 'cooldown_end']})


class LimitHistory(TypedDict):
    """How one part of a run changed the number of requests at once to one server."""

    service: Literal['model', 'wikipedia']
    server: str  # address; of several, joined by `,`
    started_at: str  # start of the part, RFC 3339 in UTC
    changes: list[LimitChange]
    dropped: NotRequired[int]  # changes after the first 1,000


class Manifest(TypedDict):
    """What was run."""

    v: Literal[1]  # format version
    variants: list[Variant]
    retired: NotRequired[list[Variant]]  # variants that were taken out of the experiment after some of their episodes were run
    repeats: int  # how often each question is run
    stop_when: NotRequired[str]  # the rule by which the run may stop by itself
    stop_looked: NotRequired[int]  # questions, from the first on, that the rule had looked at when the run was last resumed
    experiment: NotRequired[Experiment]
    dataset: Dataset
    wikitrail: str  # version of the program
    git_revision: str | None  # of the folder it was started in
    command_line: list[str]
    defaults: NotRequired[dict[str, Any]]  # settings that no flag gave when the run was started, by name: from settings files and environment variables
    files: NotRequired[dict[str, Any]]  # SHA-256 of the files that settings named when the run was last started, by path as named: prompts, instructions, protocol texts, ids
    started_at: str | None  # RFC 3339 in UTC; null in imported runs, where it is not known
    ended_at: str | None  # RFC 3339 in UTC; null while it runs
    active_ms: NotRequired[int]  # time over all parts, in milliseconds
    logs: NotRequired[list[Log]]  # the logs of another program that the episodes were imported from
    limit_history: NotRequired[list[LimitHistory]]  # what was learned about how many requests a server bears at once, per part of the run and server
    paid: NotRequired[dict[str, Any]]  # what each variant has cost by the end of the last part that ended by itself, episodes that were cut short or run again included; by the variant's name


class ShareEstimate(TypedDict):
    mean: float | None
    interval: dict[str, float] | None  # `low` and `high`


class PassScores(TypedDict):
    k: int
    questions: int  # with k scored repeats
    left_out: int  # with fewer
    pass_at: ShareEstimate
    pass_hat: ShareEstimate


class RightRepeats(TypedDict):
    count: int
    of: int
    share: float | None


class UnstableQuestion(TypedDict):
    id: str
    right: RightRepeats


class RepeatScores(TypedDict):
    """What the repeats of each question say together (docs/metrics.md)."""

    questions: int
    unstable: list[UnstableQuestion]  # some repeats right, some wrong
    agreement: ShareEstimate  # share of pairs of repeats with the same answer
    steps_sd: float | None  # between repeats of one question
    cost_sd_usd: float | None
    passes: list[PassScores]


class VariantScores(TypedDict):
    """The scores of one variant, as `wikitrail score --json` has them, with further fields; shares are 0 to 1."""

    name: str
    metric: str
    episodes: int
    measured: int
    scored: int
    em: float | None
    em_wilson: list[float] | None
    f1: float | None
    f1_t: list[float] | None
    attempted: int  # scored episodes with an answer that does not abstain
    given_attempted: float | None  # correct over attempted
    given_attempted_interval: list[float] | None
    simpleqa_f1: float | None  # harmonic mean of it and the share of correct answers
    simpleqa_f1_interval: list[float] | None
    questions: int
    repeats: RepeatScores | None  # null where each question was run once
    outcomes: dict[str, int]
    steps: int | None
    calls: int | None
    usage: Usage
    cost_usd: float | None


class QuestionRow(TypedDict):
    """One episode as a row; columns that a dataset or a metric adds come on top."""

    variant: str | None  # the variant's name
    repeat: int | None  # from 0
    id: str | None  # the question's id
    question: str | None  # question or claim
    gold: str | None  # official gold answer; empty when hidden
    aliases: str | None  # further gold answers, a JSON list
    prediction: str | None  # the answer given
    em: float | None  # exact match, 0 or 1; empty when not measured or the gold is hidden, like the next three
    f1: float | None  # F1 over words, 0 to 1
    precision: float | None  # precision over words, 0 to 1
    recall: float | None  # recall over words, 0 to 1
    outcome: str | None  # `finished`, `step_limit`, `format_failure`, `context_overflow`, `agent_failure`; unmeasured: `budget`, `not_measured`
    detail: str | None  # reason for the outcome
    steps: int | None  # steps without samples of a vote; empty, like all that follows from steps, if another program did not record them
    calls: int | None  # number of model calls
    bad_calls: int | None  # replies without an action, mended by a further call (the paper's `n_badcalls`)
    cut_calls: int | None  # calls that the token limit cut, or too long for the context
    declined_calls: int | None  # calls that the model declined, a filter withheld, or the server left empty
    searches: int | None  # steps that searched
    lookups: int | None  # steps that looked a keyword up
    missed_searches: int | None  # searches that opened no page
    repairs: int | None  # mended deviations from the protocol, with bad calls
    samples: int | None  # samples of a vote, else 0
    votes: str | None  # answers of a vote, most first, a JSON list of `[answer, count]`
    gold_pages_opened: int | None  # gold pages opened, redirects followed; empty, like the next five, without supporting facts
    gold_pages: int | None  # gold pages; of alternatives (FEVER) those of the one that was retrieved best
    first_hop: bool | None  # 1 when a gold page was opened, else 0
    all_hops: bool | None  # 1 when all gold pages were opened, else 0
    sentences_seen: int | None  # gold sentences that an observation showed
    sentences: int | None  # gold sentences whose text the dataset gives, or whose number is enough
    empty_lookups: int | None  # lookups answered by `No more results.`; empty when not measured
    grounding: str | None  # `grounded`, `lucky`, `ungrounded` or `verdict` (metrics.md)
    failure_class: str | None  # of wrong answers (metrics.md)
    failure_evidence: str | None  # what decided the class
    prompt_tokens: int | None  # counted tokens of all prompts
    completion_tokens: int | None  # counted tokens of all completions
    cost_usd: float | None  # cost in US dollars; empty where no price is known
    wall_ms: int | None  # duration in milliseconds, waiting included
    started_at: str | None  # start, RFC 3339 in UTC
    compat: str | None  # `paper` or `fixed`; empty for other programs' tools
    key: str | None  # SHA-256 of what decides the episode
    cached_tokens: int | None  # prompt tokens read from the provider's cache; empty, like the next two, if uncounted
    cache_write_tokens: int | None  # prompt tokens written to that cache
    reasoning_tokens: int | None  # tokens of the completions that were reasoning
    annotation_by: str | None  # who judged (annotation.md), joined by `|`
    annotation_correct: str | None  # their judgements in that order: `true`, `false` or nothing
    annotation_class: str | None  # their classes
    annotation_step: str | None  # the steps that went wrong
    r_precision: float | None  # KILT's R-precision; empty, like the next three, without supporting facts
    recall_at_5: float | None  # KILT's recall at 5
    kilt_em: float | None  # KILT-EM: `em` where `r_precision` is 1, else 0
    kilt_f1: float | None  # KILT-F1, and KILT-RL by the metric `rougel`: `f1` where `r_precision` is 1, else 0
    attempted: bool | None  # 1 if an answer was attempted, else 0; empty where `em` is
    type: str | None  # such as `bridge`
    level: str | None  # such as `easy`
    hops: int | None  # gold pages of the shortest way, or parts of the decomposition
    answer_kind: str | None  # `span`, `yesno`, `label` or `freeform`
    cluster: str | None  # shared by dependent questions
    run: str | None  # the folder's name, or path if two share a name
    dataset: str | None  # its name
    protocol: str | None  # its id
    options: str | None  # protocol options, a JSON object
    method: str | None  # such as `react`
    model: str | None  # as named
    endpoint: str | None  # `chat`, `completions`, … (formats.md)
    prompt: str | None  # as named
    rendered_prompt_sha256: str | None  # names its file in `prompts/`
    question_label: str | None  # before the question
    max_steps: int | None  # step limit
    temperature: float | None  # sampling temperature
    top_p: float | None  # nucleus sampling
    max_tokens: int | None  # of a reply
    seed: str | None  # up to 64 bits
    wiki: str | None  # as named
    wiki_origin: str | None  # base URL, or the corpus's id or SHA-256
    wording: str | None  # `english` or `chinese`


class StepRow(TypedDict):
    """One step as a row."""

    variant: str | None  # the variant's name
    repeat: int | None  # from 0
    id: str | None  # the question's id
    step: int | None  # from 1
    sample: int | None  # the vote's sample, from 1
    thought: str | None  # the model's thought
    tool: str | None  # `search`, `lookup`, `finish`, `think`, `invalid` or empty
    input: str | None  # the tool's argument
    action_text: str | None  # as the model wrote it
    observation: str | None  # the tool's answer
    source: str | None  # `html`, `api`, `corpus`, …; like the next seven, of searches, and of lookups in given sentences
    url: str | None  # address of the page
    title: str | None  # page title, or query of a result list
    pageid: int | None  # MediaWiki's page number
    revid: int | None  # MediaWiki's revision number
    status: int | None  # HTTP status; 200 for sources without one
    fetched_at: str | None  # RFC 3339 in UTC; empty for frozen sources
    page_sha256: str | None  # SHA-256 of the answer, or of a corpus article (each source)
    note: str | None  # remark of the tool, such as a failure
    discarded: str | None  # ignored text after the action
    calls: int | None  # model calls
    prompt_tokens: int | None  # of its prompts
    completion_tokens: int | None  # of its completions
    latency_ms: int | None  # milliseconds, waiting included
    attempts: int | None  # requests sent
    finish_reason: str | None  # of the last call
    cause: str | None  # of the last call (formats.md)
    prompt_sha256: str | None  # of the first call
    cached_tokens: int | None  # of its prompts, read from the provider's cache
    cache_write_tokens: int | None  # of its prompts, written to that cache
    reasoning_tokens: int | None  # of its completions
    sentences_shown: str | None  # JSON list of `[block, from, to]` (formats.md)
    passages: str | None  # JSON list of `{id, title, rank, score, shown, sentences}` of the tool `passages`
    run: str | None  # the folder's name, or path if two share a name
    dataset: str | None  # its name
    protocol: str | None  # its id
    options: str | None  # protocol options, a JSON object
    method: str | None  # such as `react`
    model: str | None  # as named
    endpoint: str | None  # `chat`, `completions`, … (formats.md)
    prompt: str | None  # as named
    rendered_prompt_sha256: str | None  # names its file in `prompts/`
    question_label: str | None  # before the question
    max_steps: int | None  # step limit
    temperature: float | None  # sampling temperature
    top_p: float | None  # nucleus sampling
    max_tokens: int | None  # of a reply
    seed: str | None  # up to 64 bits
    wiki: str | None  # as named
    wiki_origin: str | None  # base URL, or the corpus's id or SHA-256
    wording: str | None  # `english` or `chinese`


QUESTION_KINDS: dict[str, str] = {
    "variant": "text",
    "repeat": "int",
    "id": "text",
    "question": "text",
    "gold": "text",
    "aliases": "text",
    "prediction": "text",
    "em": "real",
    "f1": "real",
    "precision": "real",
    "recall": "real",
    "outcome": "text",
    "detail": "text",
    "steps": "int",
    "calls": "int",
    "bad_calls": "int",
    "cut_calls": "int",
    "declined_calls": "int",
    "searches": "int",
    "lookups": "int",
    "missed_searches": "int",
    "repairs": "int",
    "samples": "int",
    "votes": "text",
    "gold_pages_opened": "int",
    "gold_pages": "int",
    "first_hop": "bool",
    "all_hops": "bool",
    "sentences_seen": "int",
    "sentences": "int",
    "empty_lookups": "int",
    "grounding": "text",
    "failure_class": "text",
    "failure_evidence": "text",
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "cost_usd": "real",
    "wall_ms": "int",
    "started_at": "text",
    "compat": "text",
    "key": "text",
    "cached_tokens": "int",
    "cache_write_tokens": "int",
    "reasoning_tokens": "int",
    "annotation_by": "text",
    "annotation_correct": "text",
    "annotation_class": "text",
    "annotation_step": "text",
    "r_precision": "real",
    "recall_at_5": "real",
    "kilt_em": "real",
    "kilt_f1": "real",
    "attempted": "bool",
    "type": "text",
    "level": "text",
    "hops": "int",
    "answer_kind": "text",
    "cluster": "text",
    "run": "text",
    "dataset": "text",
    "protocol": "text",
    "options": "text",
    "method": "text",
    "model": "text",
    "endpoint": "text",
    "prompt": "text",
    "rendered_prompt_sha256": "text",
    "question_label": "text",
    "max_steps": "int",
    "temperature": "real",
    "top_p": "real",
    "max_tokens": "int",
    "seed": "text",
    "wiki": "text",
    "wiki_origin": "text",
    "wording": "text",
}

STEP_KINDS: dict[str, str] = {
    "variant": "text",
    "repeat": "int",
    "id": "text",
    "step": "int",
    "sample": "int",
    "thought": "text",
    "tool": "text",
    "input": "text",
    "action_text": "text",
    "observation": "text",
    "source": "text",
    "url": "text",
    "title": "text",
    "pageid": "int",
    "revid": "int",
    "status": "int",
    "fetched_at": "text",
    "page_sha256": "text",
    "note": "text",
    "discarded": "text",
    "calls": "int",
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "latency_ms": "int",
    "attempts": "int",
    "finish_reason": "text",
    "cause": "text",
    "prompt_sha256": "text",
    "cached_tokens": "int",
    "cache_write_tokens": "int",
    "reasoning_tokens": "int",
    "sentences_shown": "text",
    "passages": "text",
    "run": "text",
    "dataset": "text",
    "protocol": "text",
    "options": "text",
    "method": "text",
    "model": "text",
    "endpoint": "text",
    "prompt": "text",
    "rendered_prompt_sha256": "text",
    "question_label": "text",
    "max_steps": "int",
    "temperature": "real",
    "top_p": "real",
    "max_tokens": "int",
    "seed": "text",
    "wiki": "text",
    "wiki_origin": "text",
    "wording": "text",
}
