# mypy: ignore-errors
"""Make the files that the tests of evaluation files read anew, with the libraries themselves.

    python tests/grading/files/evaluation_files/make_fixtures.py deepeval ragas

The names are deepeval, pydantic_evals, adk, langsmith, ragas, inspect, atif and promptfoo. Each library is imported
only where it is asked for: install it into an environment of its own. For promptfoo, `PROMPTFOO` names its command.
Nothing here asks a model or a service.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

DATA = Path(__file__).parent / "data"
QUESTION, ANSWER = "Where is ORD-9182?", "It has shipped."
ARGUMENTS = {"order_id": "ORD-9182"}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_order_status",
        "description": "Return the state of an order.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}


def deepeval() -> None:
    from deepeval.dataset import EvaluationDataset, Golden
    from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn

    call = ToolCall(name="get_order_status", input_parameters=ARGUMENTS, output="shipped")
    cases = [
        LLMTestCase(
            name="order",
            input=QUESTION,
            actual_output=ANSWER,
            expected_output="shipped",
            tools_called=[call],
            expected_tools=[ToolCall(name="get_order_status", input_parameters=ARGUMENTS)],
        ),
        LLMTestCase(input="Good morning!", actual_output="Hello!", tools_called=[], expected_tools=[]),
    ]
    turns = [
        Turn(role="user", content=QUESTION),
        Turn(role="assistant", content=ANSWER, tools_called=[call]),
        Turn(role="user", content="Thanks!"),
        Turn(role="assistant", content="You are welcome."),
    ]
    conversation = ConversationalTestCase(turns=turns, expected_outcome="The user knows the state.")
    dumped = [case.model_dump(by_alias=True, mode="json") for case in cases]
    _write("deepeval_test_run.json", {"testCases": dumped, "conversationalTestCases": [_dumped(conversation)]})
    goldens = [
        Golden(input=QUESTION, expected_output="shipped", expected_tools=[ToolCall(name="get_order_status")]),
        Golden(input="Good morning!", expected_tools=[]),
    ]
    EvaluationDataset(goldens=goldens).save_as("json", str(DATA), "deepeval_goldens")


def pydantic_evals() -> None:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected, IsInstance
    from pydantic_evals.reporting import EvaluationReportAdapter

    expected = {"tool_calls": [{"name": "get_order_status", "arguments": ARGUMENTS}]}
    cases = [
        Case(name="order", inputs=QUESTION, expected_output=expected, metadata={"bucket": "selection"}),
        Case(name="hello", inputs="Good morning!", expected_output={"tool_calls": []}),
    ]
    dataset = Dataset(name="orders", cases=cases, evaluators=[EqualsExpected(), IsInstance("dict")])
    dataset.to_file(DATA / "pydantic_evals.yaml", schema_path=None)
    dataset.to_file(DATA / "pydantic_evals.json", schema_path=None)

    def task(question: str) -> dict[str, object]:
        if question == "Good morning!":
            return {"tool_calls": []}
        return {"tool_calls": [{"name": "get_order_status", "arguments": {"order_id": "ORD-1"}}]}

    report = dataset.evaluate_sync(task, progress=False)
    _write("pydantic_evals_report.json", json.loads(EvaluationReportAdapter.dump_json(report)))


def adk() -> None:
    from google.adk.evaluation.eval_case import EvalCase, IntermediateData, Invocation
    from google.adk.evaluation.eval_metrics import EvalMetricResultPerInvocation
    from google.adk.evaluation.eval_result import EvalCaseResult, EvalSetResult
    from google.adk.evaluation.eval_set import EvalSet
    from google.adk.evaluation.evaluator import EvalStatus
    from google.genai import types

    def invocation(question: str, answer: str, calls: list[dict[str, str]]) -> Invocation:
        uses = [types.FunctionCall(id="c1", name="get_order_status", args=args) for args in calls]
        return Invocation(
            invocation_id="",
            user_content=types.Content(role="user", parts=[types.Part(text=question)]),
            final_response=types.Content(role="model", parts=[types.Part(text=answer)]),
            intermediate_data=IntermediateData(tool_uses=uses),
        )

    turns = [invocation(QUESTION, ANSWER, [ARGUMENTS]), invocation("Thanks!", "You are welcome.", [])]
    made = EvalSet(eval_set_id="orders", eval_cases=[EvalCase(eval_id="order", conversation=turns)])
    (DATA / "adk.evalset.json").write_text(made.model_dump_json(indent=1) + "\n")
    actual = [invocation(QUESTION, ANSWER, [{"order_id": "ORD-1"}]), turns[1]]
    per_invocation = [
        EvalMetricResultPerInvocation(actual_invocation=done, expected_invocation=due, eval_metric_results=[])
        for done, due in zip(actual, turns, strict=True)
    ]
    result = EvalCaseResult(
        eval_set_id="orders",
        eval_id="order",
        final_eval_status=EvalStatus.FAILED,
        overall_eval_metric_results=[],
        eval_metric_result_per_invocation=per_invocation,
        session_id="s1",
    )
    kept = EvalSetResult(eval_set_result_id="r1", eval_set_id="orders", eval_case_results=[result])
    (DATA / "adk.evalset_result.json").write_text(kept.model_dump_json(indent=1) + "\n")


def langsmith() -> None:
    from datetime import UTC, datetime
    from uuid import UUID

    from langsmith.run_trees import RunTree
    from langsmith.schemas import Example

    times = iter(datetime(2026, 11, 1, 9, 0, second, tzinfo=UTC) for second in range(60))
    ids = iter(UUID(int=number) for number in range(1, 60))
    example = Example(
        id=next(ids),
        dataset_id=next(ids),
        inputs={"messages": [{"role": "user", "content": QUESTION}], "tools": [TOOL]},
        outputs={"tool_calls": [{"name": "get_order_status", "args": ARGUMENTS}]},
        metadata={"bucket": "selection"},
        created_at=next(times),
    )
    _write("langsmith_examples.json", [_dumped(example)])

    def child(parent: RunTree, **known: object) -> RunTree:
        return parent.create_child(run_id=next(ids), start_time=next(times), **known)

    asked = [{"role": "user", "content": QUESTION}]
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "get_order_status", "arguments": json.dumps(ARGUMENTS)}}
    ]
    called = {"role": "assistant", "content": None, "tool_calls": calls}
    result = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
    root = RunTree(
        id=next(ids), name="agent", run_type="chain", inputs={"question": QUESTION}, start_time=next(times),
        reference_example_id=example.id, project_name="orders",
    )  # fmt: skip
    first = child(root, name="model", run_type="llm", inputs={"messages": asked, "tools": [TOOL]})
    first.end(outputs={"choices": [{"message": called}]}, end_time=next(times))
    tool = child(root, name="get_order_status", run_type="tool", inputs=ARGUMENTS)
    tool.end(outputs={"output": "shipped"}, end_time=next(times))
    second = child(root, name="model", run_type="llm", inputs={"messages": [*asked, called, result], "tools": [TOOL]})
    second.end(outputs={"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}, end_time=next(times))
    root.end(outputs={"output": ANSWER}, end_time=next(times))
    lines = []
    for run in (root, first, tool, second):
        kept = run._get_dicts_safe()
        kept["extra"] = {}
        lines.append(json.dumps(kept, default=str))
    (DATA / "langsmith_runs.jsonl").write_text("\n".join(lines) + "\n")


def ragas() -> None:
    # The library imports a class that newer packages of LangChain no longer have; nothing here uses it.
    gone = ModuleType("langchain_community.chat_models.vertexai")
    gone.ChatVertexAI = object  # type: ignore[attr-defined]
    sys.modules.setdefault(gone.__name__, gone)
    from ragas.dataset_schema import EvaluationDataset, MultiTurnSample, SingleTurnSample
    from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

    call = ToolCall(name="get_order_status", args=ARGUMENTS)
    conversation = [
        HumanMessage(content=QUESTION),
        AIMessage(content="", tool_calls=[call]),
        ToolMessage(content="shipped"),
        AIMessage(content=ANSWER),
    ]
    several = [MultiTurnSample(user_input=conversation, reference_tool_calls=[call], reference_topics=["orders"])]
    EvaluationDataset(samples=several).to_jsonl(DATA / "ragas_multi_turn.jsonl")
    single = [SingleTurnSample(user_input=QUESTION, response=ANSWER, reference="shipped", retrieved_contexts=["FAQ"])]
    EvaluationDataset(samples=single).to_jsonl(DATA / "ragas_single_turn.jsonl")


def inspect() -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def get_order_status():  # type: ignore[no-untyped-def]
        async def execute(order_id: str) -> str:
            """Return the state of an order.

            Args:
                order_id: The order's number.
            """
            return "shipped"

        return execute

    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "get_order_status", ARGUMENTS),
        ModelOutput.from_content("mockllm/model", ANSWER),
        ModelOutput.from_content("mockllm/model", "Good morning!"),
    ]
    for output in outputs:
        # The mock counts tokens with a table that it would download.
        output.usage = ModelUsage(input_tokens=9, output_tokens=3, total_tokens=12)
    samples = [
        Sample(id="order", input=QUESTION, target="shipped", metadata={"bucket": "selection"}),
        Sample(id="hello", input="Good morning!", target="Good morning"),
    ]
    task = Task(dataset=samples, solver=[use_tools(get_order_status()), generate()], scorer=includes())
    for ending in ("json", "eval"):
        with tempfile.TemporaryDirectory() as folder:
            model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
            evaluate(task, model=model, log_dir=folder, log_format=ending, max_samples=1, display="none")
            (made,) = Path(folder).glob(f"*.{ending}")
            (DATA / f"inspect.{ending}").write_bytes(made.read_bytes())
    # Of the events the first model call of each sample is enough; the zip keeps all of them.
    log = json.loads((DATA / "inspect.json").read_text())
    for sample in log["samples"]:
        sample["events"] = [event for event in sample["events"] if event["event"] == "model"][:1]
    _write("inspect.json", log)


def atif() -> None:
    from atif import Agent, FinalMetrics, Observation, ObservationResult, Step, ToolCall, Trajectory

    call = ToolCall(tool_call_id="c1", function_name="get_order_status", arguments=ARGUMENTS)
    result = Observation(results=[ObservationResult(source_call_id="c1", content="shipped")])
    steps = [
        Step(step_id=1, source="user", message=QUESTION),
        Step(step_id=2, source="agent", message="", tool_calls=[call], observation=result),
        Step(step_id=3, source="agent", message=ANSWER),
    ]
    agent = Agent(name="orders", version="1", model_name="none", tool_definitions=[TOOL])
    metrics = FinalMetrics(total_prompt_tokens=9, total_completion_tokens=3)
    made = Trajectory(schema_version="ATIF-v1.7", session_id="order", agent=agent, steps=steps, final_metrics=metrics)
    _write("atif.json", made.model_dump(mode="json", exclude_none=True))


def promptfoo() -> None:
    config = {
        "description": "orders",
        "prompts": ["{{question}}"],
        "providers": [{"id": "file://provider.js", "label": "orders", "config": {"tools": [TOOL]}}],
        "tests": [
            {
                "description": "an order",
                "vars": {"question": QUESTION},
                "assert": [
                    {"type": "tool-call-f1", "value": ["get_order_status"]},
                    {"type": "javascript", "value": "true"},
                ],
            },
            {"vars": {"question": "Good morning!"}, "assert": [{"type": "contains", "value": "morning"}]},
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "provider.js").write_text((Path(__file__).parent / "promptfoo_provider.js").read_text())
        (Path(folder) / "config.json").write_text(json.dumps(config))
        environment = {**os.environ, "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
                       "PROMPTFOO_CONFIG_DIR": folder, "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1"}  # fmt: skip
        words = ["eval", "-c", "config.json", "--no-cache", "-o", "results.json", "--no-write"]
        subprocess.run([os.environ["PROMPTFOO"], *words], cwd=folder, env=environment, check=False, timeout=120)
        _write("promptfoo_results.json", json.loads((Path(folder) / "results.json").read_text()))


def _dumped(model):  # type: ignore[no-untyped-def]
    return model.model_dump(by_alias=True, mode="json") if hasattr(model, "model_dump") else json.loads(model.json())


def _write(name: str, document: object) -> None:
    (DATA / name).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name in sys.argv[1:]:
        globals()[name]()
