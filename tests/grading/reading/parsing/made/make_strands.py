# mypy: ignore-errors
"""Write what Strands Agents says of the conversation (its messages are those of Bedrock Converse), and Bedrock itself.

Needs `strands-agents` and `boto3`. The agent's loop is Strands'; a class stands in for the model. For Bedrock, boto3
checks the request against the service's model and reads the response of a local server.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import boto3
from strands import Agent, tool
from strands.models import Model

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


class _Scripted(Model):
    def __init__(self):
        self.turn = 0

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *given, **named):
        raise NotImplementedError
        yield

    async def stream(self, messages, *given, **named):
        answered = any("toolResult" in block for block in messages[-1]["content"])
        yield {"messageStart": {"role": "assistant"}}
        if answered:
            text, calls = the.ANSWERS[self.turn], ()
            self.turn += 1
        else:
            text, calls = the.LOOKING if self.turn == 0 else "", the.CALLS[self.turn]
        if calls and self.turn == 0:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "Two things to look up."}}}}
            yield {"contentBlockStop": {}}
        if text:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": text}}}
            yield {"contentBlockStop": {}}
        for key, name, args in calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": key}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


@tool
def get_order(id: str) -> dict:  # noqa: A002 (the argument's name)
    """Look up an order."""
    return {"status": "success", "content": [{"json": the.ORDERS[id]}]}


@tool
def get_stock(sku: int) -> dict:
    """Count what is there."""
    return {"status": "error", "content": [{"text": the.FAILURE}]}


class _Bedrock(BaseHTTPRequestHandler):
    asked = None
    reply = None

    def do_POST(self):
        type(self).asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(self.reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        pass


def _bedrock(messages):
    """Send the conversation up to its last message, and return the request as it was sent and the response as read."""
    sent, last = messages[:-1], messages[-1]
    _Bedrock.reply = {
        "output": {"message": last},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 30, "outputTokens": 9, "totalTokens": 39},
        "metrics": {"latencyMs": 5},
    }
    server = HTTPServer(("127.0.0.1", 0), _Bedrock)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=f"http://127.0.0.1:{server.server_port}",
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )
    answer = client.converse(modelId="local", system=[{"text": the.SYSTEM}], messages=sent)
    del answer["ResponseMetadata"]
    server.shutdown()
    return _Bedrock.asked, answer


def main() -> None:
    """Write the files."""
    agent = Agent(_Scripted(), tools=[get_order, get_stock], system_prompt=the.SYSTEM, callback_handler=None)
    agent(the.FIRST)
    agent(the.SECOND)
    save("strands", "strands-agents", agent.messages)
    plain = [
        {"role": each["role"], "content": [block for block in each["content"] if "reasoningContent" not in block]}
        for each in agent.messages
    ]
    asked, answer = _bedrock(plain)
    asked["messages"].append(answer["output"]["message"])
    save("bedrock_request", "boto3", asked)
    save("bedrock_response", "boto3", answer)


main()
