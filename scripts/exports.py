"""The work of scripts/exports.sh: exports runs, opens the files with the packages they are for, and compares with the records."""

import base64
import collections
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY, WORK, TRIED = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
PHOENIX = "http://127.0.0.1:6006"  # its usual address
HOSTILE = 'a\u0000\x1b[31m"\\`|</script><b>{{x}} attachment://0 \u202e \U0001f600 Lwów 東京\n---\nlicense: mit'


def wikitrail(*args):
    ran = subprocess.run([BINARY, *args], cwd=WORK, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"wikitrail {' '.join(args)}: {ran.returncode}\n{ran.stderr}")
    return ran.stdout


def records(run):
    """The episodes of each variant, in the order of the export."""
    lines = wikitrail("export", run, "--format", "jsonl").splitlines()
    return [json.loads(line) for line in lines]


def make_runs():
    """Runs of several methods and protocols, a branch, and one with texts and ends that a run may have but seldom has."""
    wikitrail("run", "--quiet", "--method", "react,cot-sc,standard", "--limit", "5", "--repeats", "2", "--out", "two")
    wikitrail("run", "--quiet", "--protocol", "tools,qwen-agent", "--limit", "4", "--out", "native")
    wikitrail("branch", "two@react:sample-001", "--at", "2", "--with", "empty", "--out", "branched")
    wikitrail("run", "--quiet", "--limit", "5", "--out", "odd")
    path = WORK / "odd/trajectories.jsonl"
    odd = [json.loads(line) for line in path.read_text().splitlines()]
    odd[0].update(outcome="not_measured", answer=None, detail=HOSTILE)
    odd[1].update(outcome="step_limit", answer=None)
    odd[2].update(answer=HOSTILE, answers=[HOSTILE, "b"], question=HOSTILE)
    odd[2]["steps"][0].update(thought=HOSTILE, input=HOSTILE, observation=HOSTILE, tool="invalid")
    odd[3].update(steps=[], answer="", answers=[])
    odd[4]["steps"][0]["calls"][0].update(completion=HOSTILE, reasoning=HOSTILE, finish_reason="length")
    path.write_text("".join(json.dumps(record) + "\n" for record in odd))
    return ["two", "native", "branched", "odd"]


def check(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}:\n  {found!r}\nis not\n  {wanted!r}")


def text_of(content):
    return content if isinstance(content, str) else "".join(part.text for part in content if part.type == "text")


def try_inspect(runs):
    from inspect_ai.log import list_eval_logs, read_eval_log

    count = {"logs": 0, "samples": 0, "events": 0, "errors": 0}
    os.makedirs(WORK / "logs")
    for run in runs:
        for variant in sorted({record["variant"] for record in records(run)}):
            path = str(WORK / f"logs/2026-01-02T03-04-05_{run}-{variant}.json")
            wikitrail("export", run, "--variant", variant, "--format", "inspect", "--out", path)
            header = read_eval_log(path, header_only=True)
            log = read_eval_log(path, resolve_attachments=True)
            check("status", (header.status, log.status, log.version), ("success", "success", 2))
            wanted = [record for record in records(run) if record["variant"] == variant]
            check("samples", (len(log.samples), log.results.logged_samples), (len(wanted), len(wanted)))
            check("measured", log.results.completed_samples, sum(r["outcome"] != "not_measured" for r in wanted))
            check("unfinished attachments", "attachment://" in log.model_dump_json().replace("attachment://0", ""), False)
            for sample, record in zip(log.samples, wanted):
                check_sample(sample, record)
                count["events"] += len(sample.events)
                count["errors"] += sample.error is not None
            scored = [record["score"]["em"] for record in wanted if record["score"]]
            mean = {score.name: score.metrics["mean"].value for score in log.results.scores}
            check("mean of EM", round(mean["em"], 9), round(sum(scored) / len(scored), 9))
            count["logs"] += 1
            count["samples"] += len(wanted)
    check("listed logs", len(list_eval_logs(str(WORK / "logs"))), count["logs"])
    print("inspect_ai:", ", ".join(f"{number} {what}" for what, number in count.items()))


def check_sample(sample, record):
    check("id", (sample.id, sample.epoch), (record["id"], record["repeat"] + 1))
    check("question", (sample.input, sample.target), (record["question"], record["answers"]))
    check("answer", sample.output.completion, record["answer"] or "")
    check("error", sample.error and sample.error.message, record["detail"] if record["outcome"] == "not_measured" else None)
    check("limit", sample.limit is not None, record["outcome"] == "step_limit")
    scores = {name: score.value for name, score in (sample.scores or {}).items()}
    check("scores", scores, record["score"] or {})
    calls = [call for step in record["steps"] for call in step["calls"]]
    models = [event for event in sample.events if event.event == "model"]
    check("replies", [text_of(event.output.choices[0].message.content) for event in models], [c["completion"] for c in calls])
    check("prompts", all(event.input for event in models), True)
    if record["question"] != HOSTILE:
        exact = [event.metadata["exact_prompt"] for event in models]
        check("exact prompts", exact[:1], [True] * len(exact[:1]))
    observations = [step["observation"] for step in record["steps"] if step["observation"] is not None]
    heard = [message.text for message in sample.messages if message.role in ("tool", "user")]
    check("observations", heard[len(heard) - len(observations) :], observations)


def try_harbor(runs):
    from harbor.models.trajectories import Trajectory

    lines = steps = copied = system = 0
    for run in runs:
        written = wikitrail("export", run, "--format", "atif").splitlines()
        wanted = records(run)
        check("trajectories", len(written), len(wanted))
        for line, record in zip(written, wanted):
            trajectory = Trajectory.model_validate_json(line, strict=True)
            check("version", trajectory.schema_version, Trajectory.model_fields["schema_version"].default)
            own = [step for step in trajectory.steps if (step.extra or {}).get("step")]
            check("thoughts", [step.extra["thought"] for step in own], [step["thought"] for step in record["steps"]])
            heard = [step.observation and step.observation.results[0].content for step in own]
            check("observations", heard, [step["observation"] for step in record["steps"]])
            at = (record.get("branch") or {}).get("at", 0)
            check("copied steps", [bool(step.is_copied_context) for step in own], [step["n"] < at for step in record["steps"]])
            agent = any(step["tool"] in ("search", "lookup") for step in record["steps"])
            check("tools", not agent or bool(trajectory.agent.tool_definitions), True)
            check("answer", trajectory.extra["answer"], record["answer"])
            lines, steps = lines + 1, steps + len(trajectory.steps)
            copied += sum(bool(step.is_copied_context) for step in own)
            system += trajectory.steps[0].source == "system"
    check("copied steps are tried, and system prompts", copied > 0 and system > 0, True)
    print(f"harbor: {lines} trajectories, {steps} steps, {copied} of them copied, {system} trajectories with a system prompt")


def try_datasets(runs):
    from datasets import load_dataset

    said = []
    for name, of in [("all", runs), ("odd", ["odd"])]:
        folder = WORK / f"hf-{name}"
        wikitrail("export", *of, "--format", "hf", "--out", str(folder))
        for config in ["questions", "steps"]:
            rows = wikitrail("export", *of, "--format", "jsonl", "--rows", config).splitlines()
            loaded = load_dataset(str(folder), config, cache_dir=str(WORK / "cache"))["train"]
            check("columns", loaded.column_names, list(json.loads(rows[0])))
            for row, line in zip(loaded, rows, strict=True):
                check("row", row, json.loads(line))
            said.append(f"{len(rows)} {config}")
        types = {name: feature.dtype for name, feature in loaded.features.items()}
        check("types", (types["revid"], types["started_at"] if "started_at" in types else "string"), ("int64", "string"))
    print("datasets:", ", ".join(said))


def try_otlp(runs):
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    def parsed(line):
        request = json.loads(line)
        # OTLP writes ids as hexadecimal digits, where protobuf's own JSON has base64.
        for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for name in {"traceId", "spanId", "parentSpanId"} & span.keys():
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        return Parse(json.dumps(request), ExportTraceServiceRequest())

    traces = calls = tools = 0
    for run in runs:
        written = wikitrail("export", run, "--format", "otlp").splitlines()
        wanted = {record["key"]: record for record in records(run)}
        check("traces", len(written), len(wanted))
        for line in written:
            root, *spans = parsed(line).resource_spans[0].scope_spans[0].spans
            said = {one.key: one.value for one in root.attributes}
            record = wanted[said["gen_ai.conversation.id"].string_value]
            check("ids", (len(root.trace_id), {len(span.span_id) for span in [root, *spans]}), (16, {8}))
            check("parents", {span.parent_span_id for span in spans} <= {root.span_id}, True)
            check("question", said["input.value"].string_value, record["question"])
            own = [call for step in record["steps"] for call in step["calls"] if not call.get("copied")]
            sent = [span for span in spans if span.kind == span.SPAN_KIND_CLIENT]
            check("calls", len(sent), len(own))
            check("errors", root.status.code == root.status.STATUS_CODE_ERROR, record["outcome"] == "not_measured")
            traces, calls, tools = traces + 1, calls + len(sent), tools + len(spans) - len(sent)
    print(f"opentelemetry-proto: {traces} traces, {calls} calls, {tools} uses of tools")


def recipe(part, settings, address=None):
    """Runs the code of docs/exports.md that holds a text, as the page prints it; only Phoenix has another address here."""
    blocks = (ROOT / "docs/exports.md").read_text().split("```python\n")[1:]
    code = next(block.split("```")[0] for block in blocks if part in block)
    if address:
        check("addresses", code.count(PHOENIX), 1)
        code = code.replace(PHOENIX, address)
    (WORK / "results").mkdir(exist_ok=True)
    if not (WORK / "results/two").exists():
        (WORK / "results/two").symlink_to(WORK / "two")
    settings |= {"HOME": str(WORK), "PYTHONPATH": str(ROOT / "python")}
    settings["PATH"] = f"{Path(BINARY).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run([sys.executable, "-c", code], cwd=WORK, capture_output=True, text=True, env={**os.environ, **settings})
    if ran.returncode:
        sys.exit(f"the recipe with `{part}` fails:\n{ran.stderr}")


def try_wandb(runs):
    """The run has right and wrong answers, so that columns have missing values."""
    recipe("import wandb", {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DIR": str(WORK)})
    variants = {record["variant"] for record in records("two")}
    check("logged runs", len(list(WORK.glob("wandb/offline-run-*"))), len(variants))
    print(f"wandb: {len(variants)} runs by the recipe of docs/exports.md")


def try_mlflow(runs):
    store = {"MLFLOW_TRACKING_URI": f"sqlite:///{WORK}/mlflow.db", "MLFLOW_DISABLE_TELEMETRY": "true"}
    os.environ.update(store)
    recipe("import mlflow", store)
    import mlflow

    experiment = mlflow.get_experiment_by_name("wikitrail").experiment_id
    wanted = records("two")
    logged = mlflow.search_runs([experiment], output_format="list")
    for one in logged:
        scores = [record["score"]["em"] for record in wanted if f"two-{record['variant']}" == one.info.run_name]
        check("mean of EM", round(one.data.metrics["em"], 9), round(sum(scores) / len(scores), 9))
    check("logged runs", len(logged), len({record["variant"] for record in wanted}))
    rows = mlflow.MlflowClient().load_table(experiment, "questions.json")
    check("rows", sorted(rows["key"]), sorted(record["key"] for record in wanted))
    print(f"mlflow: {len(logged)} runs with {len(rows)} rows by the recipe of docs/exports.md")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


@contextlib.contextmanager
def phoenix():
    """The address of a Phoenix that keeps its data in this folder."""
    (WORK / "phoenix").mkdir()
    settings = {"PHOENIX_WORKING_DIR": str(WORK / "phoenix"), "PHOENIX_TELEMETRY_ENABLED": "false", "PHOENIX_HOST": "127.0.0.1"}
    settings |= {"PHOENIX_PORT": free_port(), "PHOENIX_GRPC_PORT": free_port(), "HOME": str(WORK)}
    address = f"http://127.0.0.1:{settings['PHOENIX_PORT']}"
    command = [str(Path(sys.executable).parent / "phoenix"), "serve"]
    with open(WORK / "phoenix.log", "w+") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **settings})
        try:
            while True:
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{address}/healthz")
                    break
                if server.poll() is not None:
                    sys.exit(f"Phoenix does not start:\n{(WORK / 'phoenix.log').read_text()[-2000:]}")
                time.sleep(0.5)
            yield address
        finally:
            server.terminate()
            server.wait()


def try_phoenix(runs):
    from phoenix.client import Client

    wikitrail("export", *runs, "--format", "otlp", "--out", "traces.jsonl")
    lines = (WORK / "traces.jsonl").read_text().splitlines()
    sent = [span for line in lines for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]]
    with phoenix() as address:
        request = urllib.request.Request(f"{address}/v1/traces", lines[0].encode(), {"Content-Type": "application/json"})
        try:
            sys.exit(f"Phoenix takes JSON now ({urllib.request.urlopen(request).status}): docs/exports.md says otherwise")
        except urllib.error.HTTPError as refused:
            check("status of JSON", refused.code, 415)
        recipe("v1/traces", {}, address)
        found, waited = [], 0
        # It answers before it has stored them.
        while len(found) < len(sent) and waited < 120:
            time.sleep(0.5)
            found = Client(base_url=address).spans.get_spans(project_identifier="default", limit=2 * len(sent))
            waited += 1
    ids = {(span["context"]["trace_id"], span["context"]["span_id"], span.get("parent_id"), span["name"]) for span in found}
    check("spans", ids, {(span["traceId"], span["spanId"], span.get("parentSpanId"), span["name"]) for span in sent})
    kinds = collections.Counter(span["span_kind"] for span in found)
    check("agents", kinds["AGENT"], len(lines))
    roots = {span["context"]["trace_id"]: span["attributes"]["input.value"] for span in found if not span.get("parent_id")}
    questions = collections.Counter(record["question"] for run in runs for record in records(run))
    check("questions", collections.Counter(roots.values()), questions)
    print(f"arize-phoenix: {len(lines)} traces,", ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())))


attempts = {
    "inspect_ai": try_inspect,
    "harbor": try_harbor,
    "datasets": try_datasets,
    "opentelemetry-proto": try_otlp,
    "wandb": try_wandb,
    "mlflow": try_mlflow,
    "arize-phoenix": try_phoenix,
}
if TRIED not in attempts:
    sys.exit(f"{TRIED} opens no export; the packages that do are {', '.join(attempts)}")
attempts[TRIED](make_runs())
