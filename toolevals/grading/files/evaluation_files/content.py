"""Reads inputs and outputs as people keep them: text, messages of any provider, or objects with keys of their own.

Reads expected calls and made calls of test cases that keep them as two lists: DeepEval, Ragas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolevals.grading.files.evaluation_files.entries import accepted, expected_words, external_id
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing import calls_in_text, last_words, read_transcript
from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.reading.parsing.json_calls import call_of, calls_in_json
from toolevals.grading.reading.parsing.text import with_text_calls
from toolevals.grading.values import Call, CallExpectation, Expectation, Message, Trajectory, Transcript
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# Where a question stands that is no list of messages; the first one there counts.
QUESTIONS = ("input", "question", "query", "prompt", "text", "user", "instruction", "user_input", "user_message")
# Where an answer stands; the first one there counts.
ANSWERS = ("tool_calls", "messages", "message", "output", "answer", "expected", "ideal", "reference", "response")
# What holds a provider's messages or response.
_RESPONSES = ("choices", "candidates", "contents", "messages")
# Texts in requests and responses that ask and answer nothing, and so are no one's only text.
_SETTINGS = frozenset((
    "model", "model_name", "modelName", "model_id", "modelId", "deployment", "engine", "provider", "id", "name", "type",
    "object", "session_id", "sessionId", "thread_id", "threadId", "user_id", "userId", "run_id", "runId", "trace_id",
    "traceId", "finish_reason", "finishReason", "stop_reason", "stopReason", "stop_sequence", "status", "service_tier",
    "system_fingerprint", "model_version", "modelVersion", "system", "system_instruction", "systemInstruction",
))  # fmt: skip
WORDS_EXPECTED = "is words: expected in the answer, whatever is called"


def content_of(given: object, pointer: str = "/input", losses: list[Problem] | None = None) -> JsonObject:
    """Return an example's input, `messages` and perhaps `context`, from text, messages, or an object.

    `losses` grows by what the messages held and their normal form does not. Of an object, messages or the text under
    one of QUESTIONS (or its only text) is what is asked; the rest is context. Raises InvalidDocument without either.
    """
    if isinstance(given, str) and given.strip():
        return {"messages": [{"role": "user", "content": given}]}
    if isinstance(given, list):
        return {"messages": [message.to_document() for message in messages_of(given, pointer, losses)]}
    if not isinstance(given, Mapping):
        raise InvalidDocument.at(pointer, "is neither text nor messages nor an object")
    if is_message(given):
        return {"messages": [message.to_document() for message in messages_of([given], pointer, losses)]}
    if given.keys() <= {"args", "kwargs"} and any(given.values()):
        return _of_function(given, pointer, losses)
    if given.get("contents"):
        return _of_gemini(given, pointer, losses)
    used = next((key for key in ("messages", "input") if isinstance(given.get(key), list) and given[key]), "")
    if used:
        messages = [message.to_document() for message in messages_of(given[used], f"{pointer}/{used}", losses)]
    else:
        used = _question(given)
        if not used:
            names = ", ".join(QUESTIONS)
            raise InvalidDocument.at(pointer, f"has neither messages nor text under one of {names}")
        messages = [{"role": "user", "content": given[used]}]
    return _with_context(messages, given, {used})


def _with_context(messages: list[JsonObject], given: JsonMapping, used: set[str]) -> JsonObject:
    """Return an input of messages; what else the object holds is context."""
    rest = {key: value for key, value in given.items() if key not in {*used, "tools", "context"}}
    context = given.get("context")
    if isinstance(context, Mapping):
        rest = {**context, **rest}
    elif context is not None:
        rest["context"] = context
    return {"messages": messages} | ({"context": rest} if rest else {})


def _of_function(given: JsonMapping, pointer: str, losses: list[Problem] | None) -> JsonObject:
    """Return what a traced function was asked: its one argument, or its named arguments."""
    args, kwargs = given.get("args") or [], given.get("kwargs") or {}
    if isinstance(args, list) and len(args) == 1 and not kwargs:
        return content_of(args[0], f"{pointer}/args/0", losses)
    if isinstance(kwargs, Mapping) and kwargs and not args:
        return content_of(kwargs, f"{pointer}/kwargs", losses)
    raise InvalidDocument.at(pointer, "are several arguments of a function: which of them was asked is not known")


def _of_gemini(given: JsonMapping, pointer: str, losses: list[Problem] | None) -> JsonObject:
    """Return what a request to Gemini asks; its SDK has the system's instruction in `config`."""
    contents, config = given["contents"], given.get("config")
    settings = config if isinstance(config, Mapping) else {}
    if isinstance(contents, str):
        contents = [{"role": "user", "parts": [{"text": contents}]}]
    request: JsonObject = {"contents": contents if isinstance(contents, list) else [contents]}
    for key in ("system_instruction", "systemInstruction"):
        if said := given.get(key) or settings.get(key):
            request["system_instruction"] = {"parts": [{"text": said}]} if isinstance(said, str) else said
    messages = [message.to_document() for message in messages_of(request, pointer, losses)]
    left = {key: value for key, value in settings.items() if key not in _SETTINGS and key != "tools"}
    used = {"contents", "system_instruction", "systemInstruction"} | (set() if left else {"config"})
    return _with_context(messages, {**given, "config": left}, used)


def is_message(value: object) -> bool:
    """Tell whether a value is one message of some provider."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("role"), str) or "lc" in value:
        return True
    return isinstance(value.get("type"), str) and ("content" in value or "data" in value)


def messages_of(given: object, pointer: str, losses: list[Problem] | None = None) -> tuple[Message, ...]:
    """Return a provider's messages, in a list (or a list of one list) or a response, and add what is left out.

    Raises InvalidDocument.
    """
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):
        given, pointer = given[0], f"{pointer}/0"
    try:
        read = read_transcript(given)
    except InvalidDocument as error:
        raise error.below(pointer) from None
    if not read.transcript.messages:
        raise InvalidDocument.at(pointer, "holds no messages")
    if losses is not None:
        losses += (Problem(pointer + loss.first, f"{loss.count:,} × {loss.what}: left out") for loss in read.losses)
    return read.transcript.messages


def said_in(output: object, pointer: str = "/output", losses: list[Problem] | None = None) -> tuple[Message, ...]:
    """Return what an output says and calls: text, calls, messages, or a response of a provider. Raises InvalidDocument.

    Of an object of one's own it is what stands under one of ANSWERS, or its only text; any other is taken as the JSON
    text that the agent answered.
    """
    if output is None or output in ("", [], {}):
        return ()
    if isinstance(output, str):
        return (_text_said(output),)
    if isinstance(output, list):
        return _list_said(output, pointer, losses)
    if not isinstance(output, Mapping):
        return (Message("assistant", str(output)),)
    if isinstance(generations := output.get("generations"), list):
        return _generated(generations, f"{pointer}/generations", losses)
    if isinstance(content := output.get("content"), Mapping) and isinstance(content.get("parts"), list):
        return messages_of({"candidates": [output]}, pointer, losses)
    if is_message(output) or any(isinstance(output.get(key), list) for key in _RESPONSES):
        return messages_of([output] if is_message(output) else _unnested(output), pointer, losses)
    if (calls := calls_in_json(output)) is not None:
        return (Message("assistant", _text(output.get("content")), calls),)
    return _said_in_object(output, pointer, losses)


def _said_in_object(output: JsonMapping, pointer: str, losses: list[Problem] | None) -> tuple[Message, ...]:
    """Return what an object of one's own says: under one of ANSWERS, as blocks of content, or its only text."""
    key = next((key for key in ANSWERS if output.get(key) is not None), None)
    texts = [name for name, value in output.items() if isinstance(value, str) and name not in _SETTINGS]
    if key is None and isinstance(output.get("content"), list):
        return messages_of([{"role": "assistant", "content": output["content"]}], pointer, losses)
    if key is None and len(texts) == 1:
        key = texts[0]
    if key is None:
        raise InvalidDocument.at(
            pointer, f"holds no answer under one of {', '.join(ANSWERS)}, and no messages or calls"
        )
    return said_in(output[key], f"{pointer}/{key}", losses)


def transcript_of(messages: Sequence[Message], **known: JsonValue) -> Transcript:
    """Return the transcript of messages: its answer is what the assistant said last."""
    made = tuple(messages)
    return replace(Transcript(made, last_words(made)), **known)


def expectation_of(expected: object, pointer: str) -> tuple[Expectation | None, tuple[Problem, ...]]:
    """Return what an expected output means, and its losses; None where nothing is expected.

    Calls are expected with just these values, an empty list of calls is no call. Of messages, those of the last count.
    Words are expected in the answer, whatever is called. Raises InvalidDocument.
    """
    if expected is None or expected in ("", {}):
        return None, ()
    if expected == [] or (isinstance(expected, Mapping) and _calls_nothing(expected)):
        return Expectation("no_call"), ()
    losses: list[Problem] = []
    messages = with_text_calls(transcript_of(said_in(expected, pointer, losses)), None).messages
    calls = tuple(call for message in messages for call in message.calls)
    if calls:
        return accepted([calls], pointer), tuple(losses)
    words = last_words(messages)
    return (None, ()) if not words else (expected_answer([words]), (*losses, Problem(pointer, WORDS_EXPECTED)))


def expected_answer(words: Sequence[str]) -> Expectation:
    """Return the expectation of an answer that holds one of these texts, whatever is called."""
    return replace(expected_words(words), kind="calls", alternatives=(Trajectory(),))


def expected_in_order(calls: Sequence[Call], pointer: str) -> Expectation:
    """Return the expectation of just these calls, in this order. Raises InvalidDocument where one cannot be read."""
    if not calls:
        return Expectation("no_call")
    (trajectory,) = accepted([calls], pointer).alternatives
    ordered = trajectory.ordered or trajectory.unordered
    return Expectation("calls", alternatives=(Trajectory(ordered=ordered, additional_calls=False),))


def example_of(identifier: Any, prefix: str, content: JsonObject, **known: JsonValue) -> ExampleRow:
    """Return an example, named by its content where it has no id of its own."""
    return ExampleRow(external_id(identifier, prefix, [content]), content, **known)


def json_in(value: object) -> Any:
    """Return the JSON value of text that looks like an object or a list; of anything else the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return load_json(value)
        except InvalidDocument:
            return value
    return value


def _calls_nothing(expected: JsonMapping) -> bool:
    return expected.get("tool_calls") == [] and not any(expected.get(key) for key in (*ANSWERS, "content"))


def _question(given: JsonMapping) -> str:
    used = next((key for key in QUESTIONS if isinstance(given.get(key), str) and given[key].strip()), "")
    texts = [key for key, value in given.items() if isinstance(value, str) and value.strip() and key not in _SETTINGS]
    return used or (texts[0] if len(texts) == 1 else "")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _text_said(text: str) -> Message:
    value = json_in(text)
    if value is not text and (calls := calls_in_json(value)) is not None:
        return Message("assistant", None, calls)
    return Message("assistant", text, calls_in_text(text))


def _list_said(output: list[Any], pointer: str, losses: list[Problem] | None) -> tuple[Message, ...]:
    if (calls := calls_in_json(output)) is not None:
        return (Message("assistant", None, calls),)
    if all(isinstance(item, str) for item in output):
        return (Message("assistant", "\n".join(output)),)
    if all(isinstance(item, Mapping) and "toolName" in item and "role" not in item for item in output):
        # The AI SDK keeps the calls of an answer apart, without the type that they have in its messages.
        parts = [{"type": "tool-call", **item} for item in output]
        return messages_of([{"role": "assistant", "content": parts}], pointer, losses)
    return messages_of(output, pointer, losses)


def _generated(generations: list[Any], pointer: str, losses: list[Problem] | None) -> tuple[Message, ...]:
    first = generations[0] if generations else None
    if isinstance(first, list):
        first, pointer = first[0] if first else None, f"{pointer}/0"
    if not isinstance(first, Mapping):
        raise InvalidDocument.at(f"{pointer}/0", "is not a generation with a message or text")
    if isinstance(message := first.get("message"), Mapping):
        return messages_of([message], f"{pointer}/0/message", losses)
    return said_in(first.get("text"), f"{pointer}/0/text")


def _unnested(output: JsonMapping) -> Any:
    messages = output.get("messages")
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], list):
        return messages[0]
    return output


NO_ARGUMENTS = "says no arguments: expected with any"


def expected_tools(
    given: object, key: str, words: object, pointer: str, words_pointer: str
) -> tuple[Expectation | None, tuple[Problem, ...]]:
    """Return what a list of expected calls (arguments under `key`) and expected words mean; None for neither.

    An empty list is no call. A call without arguments is expected with any, and a loss says so.
    """
    said = words if isinstance(words, str) and words.strip() else ""
    if given is None and said and (called := calls_in_text(said, ())):
        return accepted([called], words_pointer), ()
    if given is None:
        return (expected_answer([said]), ()) if said else (None, ())
    if not isinstance(given, list):
        raise InvalidDocument.at(pointer, "is not a list of calls")
    answer = {"contains": [said]} if said else None
    if not given:
        return Expectation("no_call", answer=answer), ()
    calls = calls_in(given, key, pointer)
    free = {place for place, item in enumerate(given) if isinstance(item, Mapping) and item.get(key) is None}
    (trajectory,) = accepted([calls], pointer).alternatives
    expected = tuple(
        CallExpectation(call.tool) if place in free else call for place, call in enumerate(trajectory.calls)
    )
    losses = tuple(Problem(f"{pointer}/{place}", NO_ARGUMENTS) for place in sorted(free))
    made = Trajectory(unordered=expected, additional_calls=False)
    return Expectation("calls", alternatives=(made,), answer=answer), losses


def calls_in(given: object, key: str, pointer: str, *, with_ids: bool = True) -> tuple[Call, ...]:
    """Return the calls of a list of `{"name", key: arguments}`. Raises InvalidDocument where it is no such list."""
    if not isinstance(given, list):
        raise InvalidDocument.at(pointer, "is not a list of calls")
    calls = []
    for place, item in enumerate(given):
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
            raise InvalidDocument.at(f"{pointer}/{place}", "is not a call with a name")
        identifier = f"call-{place + 1}" if with_ids else None
        calls.append(call_of(item["name"], item.get(key), identifier, shown_as=dict(item)))
    return tuple(calls)


def messages_made(calls: Sequence[Call], results: Sequence[object], words: object) -> tuple[Message, ...]:
    """Return calls, one message for all, the results that are there, and the words that came last."""
    made = [Message("assistant", None, tuple(calls))] if calls else []
    made += [
        Message("tool", result_text(result), call_id=call.id)
        for call, result in zip(calls, results, strict=True)
        if result is not None
    ]
    return (*made, Message("assistant", words)) if isinstance(words, str) and words else tuple(made)
