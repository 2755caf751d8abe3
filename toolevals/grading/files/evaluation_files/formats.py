"""Lists the formats of evaluation files in one table: what tells each, how it is read, and what it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files import (
    acebench,
    adk,
    api_bank,
    api_bank_dialogues,
    atif,
    batches,
    bfcl_rows,
    chatlog,
    claude_code,
    codex,
    deepeval,
    glaive,
    inspect_logs,
    langfuse,
    langsmith,
    nestful,
    openai_evals_runs,
    otlp,
    phoenix,
    promptfoo,
    pydantic_evals,
    ragas,
    seal_tools,
    sharegpt,
    toolbench,
    trl,
    weave,
    xlam,
)
from toolevals.grading.files.evaluation_files.entry import Detected, FileFormat, Gives
from toolevals.grading.files.evaluation_files.unknown_files import unknown_words
from toolevals.grading.files.example_files import LINE_KEYS, TITLES
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonValue


def _of_first(detect: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """Return the test of a document by its first entry."""

    def detected_in(document: JsonValue) -> str | None:
        inner = document.get("data") if isinstance(document, Mapping) else None
        items = inner if isinstance(inner, list) and len(document) <= _PAGE_KEYS else document
        return detect(items[0] if isinstance(items, list) and items else items)

    return detected_in


# A page of an API: data, and at most how to go on.
_PAGE_KEYS = 3
_BOTH: tuple[Gives, ...] = ("examples", "predictions")
_ALL: tuple[Gives, ...] = ("tools", "examples", "predictions")
_EXAMPLES: tuple[Gives, ...] = ("tools", "examples")

FORMATS: dict[str, FileFormat] = {
    each.name: each
    for each in (
        FileFormat(
            "langsmith_runs",
            "LangSmith runs",
            _ALL,
            "a trace: what its first model call was given, and what was done",
            _of_first(langsmith.detect_runs),
            langsmith.read_runs,
            ("run_type", "inputs", "outputs", "trace_id", "parent_run_id"),
            "feedback, tags, events and costs (silently); tool runs that a conversation already holds",
            "made by langsmith 0.15.0 without its service",
        ),
        FileFormat(
            "nestful",
            "NESTFUL",
            _EXAMPLES,
            "a sample: its calls in any order, with the results that they refer to",
            _of_first(nestful.detect),
            nestful.read,
            ("sample_id", "input", "output", "tools", "gold_answer"),
            "the gold answer, kept as rationale; references inside a text, for which any value will do; `var_result`",
            "written after its published schema",
        ),
        FileFormat(
            "langsmith_examples",
            "LangSmith dataset, JSON",
            _EXAMPLES,
            "an example with inputs, outputs and metadata",
            _of_first(langsmith.detect_examples),
            langsmith.read_examples,
            ("inputs", "outputs", "metadata", "dataset_id"),
            "metadata that is not a stratum, dates (silently); words expected of the agent are expected in the answer",
            "made by langsmith 0.15.0 without its service",
        ),
        FileFormat(
            "langfuse_traces",
            "Langfuse traces or observations, JSON or CSV",
            _ALL,
            "a trace: what its first generation was given, and what was done",
            _of_first(langfuse.detect_traces),
            langfuse.read_traces,
            ("traceId", "type", "observations", "parentObservationId"),
            "scores and comments of a table; costs, prompts and sessions (silently)",
            "written by hand after Langfuse's public API and its tables' columns",
            tables=True,
        ),
        FileFormat(
            "langfuse_items",
            "Langfuse dataset items, JSON or CSV",
            _EXAMPLES,
            "an item with input and expectedOutput",
            _of_first(langfuse.detect_items),
            langfuse.read_items,
            ("input", "expectedOutput", "datasetId", "sourceTraceId"),
            "dates, and metadata that is not a stratum (silently); that an item is archived",
            "written by hand after Langfuse's public API and its tables' columns",
            tables=True,
        ),
        FileFormat(
            "promptfoo",
            "promptfoo results",
            _ALL,
            "a result: its test, and what a provider answered",
            promptfoo.detect,
            promptfoo.read,
            ("results", "config", "evalId", "shareableUrl"),
            "assertions other than equals, contains and tool-call-f1; scores and gradings (silently)",
            "made by promptfoo 0.121.20 with a provider of our own",
        ),
        FileFormat(
            "inspect",
            "Inspect log",
            _ALL,
            "a sample of an epoch: an epoch is a trial",
            inspect_logs.detect,
            inspect_logs.read,
            ("eval", "samples", "plan", "results"),
            "parts of messages that are neither text nor reasoning; scores, events and stores (silently)",
            "made by inspect_ai 0.3.285 with its mock model",
        ),
        FileFormat(
            "deepeval",
            "DeepEval test cases",
            _BOTH,
            "a test case or golden, also of conversations",
            deepeval.detect,
            deepeval.read,
            ("input", "actual_output", "expected_output", "tools_called", "expected_tools", "retrieval_context"),
            "expected outcomes that only a judge can check; metrics and costs (silently)",
            "made by deepeval 4.3.1",
        ),
        FileFormat(
            "ragas",
            "Ragas samples",
            _BOTH,
            "a sample of one turn or of several",
            _of_first(ragas.detect),
            ragas.read,
            ("user_input", "response", "reference", "reference_tool_calls", "retrieved_contexts"),
            "rubrics, reference topics and reference contexts, which only a judge can check",
            "made by ragas 0.4.3",
        ),
        FileFormat(
            "pydantic_evals_report",
            "Pydantic Evals report",
            _BOTH,
            "a case with what the task gave back",
            pydantic_evals.detect_report,
            pydantic_evals.read_report,
            ("cases", "failures", "name", "analyses"),
            "evaluators other than equality; scores, labels and spans (silently)",
            "made by pydantic-evals 2.62.0",
        ),
        FileFormat(
            "pydantic_evals",
            "Pydantic Evals dataset",
            _EXAMPLES,
            "a case with inputs and expected_output; YAML or JSON",
            pydantic_evals.detect_dataset,
            pydantic_evals.read_dataset,
            ("cases", "evaluators", "name"),
            "evaluators other than equality; metadata that is not a stratum (silently)",
            "made by pydantic-evals 2.62.0",
        ),
        FileFormat(
            "adk_result",
            "ADK evaluation result",
            _BOTH,
            "an invocation that was run, next to the expected one",
            adk.detect_result,
            adk.read_result,
            ("eval_set_result_id", "eval_case_results", "eval_set_id"),
            "references for a judge, kept as rationale; scores and sessions (silently)",
            "made by google-adk 2.13.0",
        ),
        FileFormat(
            "adk",
            "ADK evaluation set",
            ("examples",),
            "an invocation with what was said before it; its tool uses are expected in order",
            adk.detect_set,
            adk.read_set,
            ("eval_set_id", "eval_cases", "conversation"),
            "references for a judge, kept as rationale; the session's state; rubrics",
            "made by google-adk 2.13.0",
        ),
        FileFormat(
            "atif",
            "ATIF trajectories",
            _ALL,
            "a trajectory: the steps before the agent's first, and what it did",
            _of_first(atif.detect),
            atif.read,
            ("schema_version", "steps", "agent", "final_metrics"),
            "images; what subagents did; observations without a call; metrics of steps (silently)",
            "made by atif 1.8.0",
        ),
        FileFormat(
            "weave_calls",
            "Weave calls",
            _ALL,
            "a trace: what its first model call was given, and what was done",
            _of_first(weave.detect),
            weave.read,
            ("op_name", "trace_id", "inputs", "output"),
            "feedback and attributes (silently); calls whose messages are references are refused",
            "written by the interface's documents",
        ),
        FileFormat(
            "phoenix_spans",
            "Phoenix spans, JSON or CSV",
            _ALL,
            "a trace: what its first model span was given, and what was done",
            _of_first(phoenix.detect_spans),
            phoenix.read_spans,
            ("span_kind", "context", "attributes", "parent_id"),
            "annotations, events and other attributes (silently)",
            "written by the conventions of OpenInference, and a data frame's CSV",
            tables=True,
        ),
        FileFormat(
            "phoenix_examples",
            "Phoenix dataset examples, JSON or CSV",
            ("examples",),
            "an example with input, output and metadata",
            phoenix.detect_examples,
            phoenix.read_examples,
            ("data", "version_id"),
            "metadata that is not a stratum (silently)",
            "written by the documents of Phoenix's REST interface, JSON and CSV",
            tables=True,
        ),
        FileFormat(
            "otlp",
            "OpenTelemetry traces and log records, OTLP in JSON or protobuf",
            _ALL,
            "a trace: what its first model call was given, and what was done",
            _of_first(otlp.detect),
            otlp.read,
            ("resourceSpans", "scopeSpans", "spans", "resourceLogs", "scopeLogs", "logRecords"),
            "attributes that no known convention has; links, other log records and the measures of other spans"
            " (silently)",
            "sent by OpenInference 0.1.66, OpenLLMetry 0.62.4, pydantic-ai, google-adk 2.13, ai 5.0 and others to a"
            " server of our own",
        ),
        FileFormat(
            "claude_code",
            "Claude Code session",
            _BOTH,
            "a session: what was asked before the agent's first turn, and what it did",
            claude_code.detect,
            claude_code.read,
            ("sessionId", "uuid", "parentUuid", "message", "isSidechain"),
            "what subagents did; summaries of earlier messages; prompts that the user went back behind; errors of the"
            " provider; encrypted thoughts, and what the program tells the person (silently)",
            "written after files of Claude Code 2",
        ),
        FileFormat(
            "codex",
            "Codex CLI session",
            _BOTH,
            "a session: what was asked before the agent's first turn, and what it did",
            codex.detect,
            codex.read,
            ("timestamp", "type", "payload"),
            "summaries of earlier messages; turns that the user took back; what lines tell for the screen (silently)",
            "written after files of Codex CLI 0.65",
        ),
        FileFormat(
            "chatlog",
            "chat log, JSON Lines or text",
            _BOTH,
            "a conversation: the rows of one id, or the lines up to the next heading",
            _of_first(chatlog.detect),
            chatlog.read,
            ("conversation_id", "role", "content", "tool_calls", "tool_call_id"),
            "times and names of speakers (silently); keys of a message that no provider has",
            "written by hand after the text of this page",
        ),
        FileFormat(
            "openai_evals_run",
            "OpenAI Evals run",
            _BOTH,
            "a sample that was asked",
            _of_first(openai_evals_runs.detect),
            openai_evals_runs.read,
            ("spec", "final_report", "sample", "datasource_item"),
            "samples asked several times are refused; results and events of graders (silently)",
            "written by evals.record and the API's reference",
        ),
        FileFormat(
            "sharegpt",
            "ShareGPT conversations (Hermes, ToolACE, APIGen-MT, LLaMA-Factory)",
            _EXAMPLES,
            "a turn of the assistant: by default the first of each conversation",
            _of_first(sharegpt.detect),
            sharegpt.read,
            ("conversations", "tools"),
            "the assistant's other turns; categories and sources (silently)",
            "written after the cards of Hermes function calling v1, ToolACE, APIGen-MT and LLaMA-Factory; rows of"
            " ToolLLaMA",
            decides=sharegpt.read,
            leaves_rows=True,
        ),
        FileFormat(
            "trl",
            "TRL prompts with completions",
            _EXAMPLES,
            "a completion: by default its first turn; of a preference the chosen one",
            _of_first(trl.detect),
            trl.read,
            ("prompt", "completion", "tools"),
            "what is rejected; further turns of the completion",
            "written after TRL's dataset formats",
            decides=trl.read,
            leaves_rows=True,
        ),
        FileFormat(
            "glaive",
            "Glaive function calling v2",
            _EXAMPLES,
            "a turn of the assistant: by default the first of each conversation",
            _of_first(glaive.detect),
            glaive.read,
            ("system", "chat"),
            "the assistant's other turns",
            "written after the dataset's card",
            decides=glaive.read,
            leaves_rows=True,
        ),
        FileFormat(
            "xlam",
            "xLAM function calling",
            _EXAMPLES,
            "a query with the calls that answer it",
            _of_first(xlam.detect),
            xlam.read,
            ("query", "tools", "answers"),
            "types that are not known",
            "written after the dataset's card",
            leaves_rows=True,
        ),
        FileFormat(
            "bfcl_rows",
            "Berkeley Function-Calling Leaderboard, files without a zip",
            _EXAMPLES,
            "a question, with the answer of its id where the file holds it",
            bfcl_rows.detect,
            bfcl_rows.read,
            ("id", "question", "function"),
            "turns after the first; start and end states (silently)",
            "rows of bfcl-eval 2026.3.23",
            leaves_rows=True,
        ),
        FileFormat(
            "acebench",
            "ACEBench",
            _EXAMPLES,
            "a question, with the answer of its id where the file holds it",
            acebench.detect,
            acebench.read,
            ("id", "question", "function"),
            "end states of agents",
            "written after the published rows",
            leaves_rows=True,
        ),
        FileFormat(
            "seal_tools",
            "Seal-Tools",
            ("examples",),
            "a query with its calls",
            _of_first(seal_tools.detect),
            seal_tools.read,
            ("query", "calling"),
            "references to results of earlier calls, for which any value will do; names of results (silently)",
            "rows as published",
            leaves_rows=True,
        ),
        FileFormat(
            "toolbench",
            "ToolBench queries",
            _EXAMPLES,
            "a query with the APIs that it needs",
            _of_first(toolbench.detect),
            toolbench.read,
            ("api_list", "query"),
            "methods and sample responses of APIs (silently)",
            "rows as published",
            leaves_rows=True,
        ),
        FileFormat(
            "api_bank",
            "API-Bank",
            _EXAMPLES,
            "a turn that the assistant is asked for",
            _of_first(api_bank.detect),
            api_bank.read,
            ("instruction", "input", "expected_output"),
            "what the assistant says where it calls nothing (silently)",
            "rows as published",
            leaves_rows=True,
        ),
        FileFormat(
            "api_bank_dialogue",
            "API-Bank dialogue",
            ("examples",),
            "a turn of the assistant: by default the first of the dialogue",
            api_bank_dialogues.detect,
            api_bank_dialogues.read,
            ("role", "text", "api_name", "param_dict"),
            "the assistant's other turns",
            "written after the published rows",
            decides=api_bank_dialogues.read,
        ),
        FileFormat(
            "openai_batch",
            "OpenAI batch output",
            ("predictions",),
            "a request, by its custom_id",
            _of_first(batches.detect_openai),
            batches.read_openai,
            ("custom_id", "response"),
            "what messages of the provider leave out",
            "written after the API's reference",
        ),
        FileFormat(
            "anthropic_batch",
            "Anthropic batch results",
            ("predictions",),
            "a request, by its custom_id",
            _of_first(batches.detect_anthropic),
            batches.read_anthropic,
            ("custom_id", "result"),
            "what messages of the provider leave out",
            "written after the API's reference",
        ),
        FileFormat(
            "gemini_batch",
            "Gemini batch output",
            ("predictions",),
            "a request, by its key or its label id",
            _of_first(batches.detect_gemini),
            batches.read_gemini,
            ("key", "response"),
            "what messages of the provider leave out",
            "written after the API's reference",
        ),
    )
}


def detected(document: object, *, is_table: bool = False) -> Detected:
    """Return the format of a document. Raises InvalidDocument that names what it has and the nearest known format."""
    for each in FORMATS.values():
        if (each.tables or not is_table) and (evidence := each.detect(document)) is not None:
            return Detected(each, evidence)
    raise InvalidDocument.at("", f"has an unknown format: {unknown_words(document, known_formats())}")


def format_named(name: str) -> FileFormat:
    """Return a format by its name. Raises InvalidDocument."""
    if name not in FORMATS:
        raise InvalidDocument.at("", f"{name} is not a format: there are {', '.join(FORMATS)}")
    return FORMATS[name]


def known_formats() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the title of each format of examples and predictions with the keys that make it."""
    for name, keys in LINE_KEYS.items():
        yield TITLES[name], keys
    for each in FORMATS.values():
        yield each.title, each.keys
