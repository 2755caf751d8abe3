"""Read a server's answer, and choose the exit status for it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.http import Response


def check(response: Response) -> None:
    """Raise CommandError where the answer is no success, with what the server said is wrong."""
    if not response.is_success:
        raise CommandError(_exit_for(response.status), _what_is_wrong(response))


def value_of(response: Response) -> Any:
    """Return the answer's JSON value, None where it is empty. Raises CommandError where it is something else."""
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError as error:
        asked = urlsplit(response.request.url)
        raise not_ours(f"{asked.scheme}://{asked.netloc} answers with no JSON") from error


def not_ours(words: str) -> CommandError:
    """Return the error of an answer that this application does not give."""
    return CommandError(Exit.CONFIGURATION, f"{words}: is this the address of a toolevals server?")


def is_at_work(response: Response) -> bool:
    """Return whether an earlier sending of the same request is not done yet, which was cut off on the way back."""
    if response.status != HTTPStatus.CONFLICT or "Idempotency-Key" not in response.request.headers:
        return False
    return "still at work" in str(_problem(response).get("detail"))


def job_errors(state: Mapping[str, Any]) -> list[str]:
    """Return why a job failed and what is wrong with its input, a line each, and how many more its page tells."""
    report = state.get("report") or {}
    errors = report.get("errors") or []
    lines = [
        "  " + ", ".join(str(error[key]) for key in ("line", "pointer", "message") if error.get(key) not in (None, ""))
        for error in errors
    ]
    more = (report.get("error_count") or 0) - len(errors)
    reason = [f"  {state['reason']}"] if state.get("reason") else []
    return [*reason, *lines, *([f"  {more:,} more: see the job's page"] if more > 0 else [])]


def _exit_for(status: int) -> Exit:
    if status in (401, 403, 404) or status < 400:
        return Exit.CONFIGURATION
    return Exit.UNREACHABLE if status >= 500 or status == HTTPStatus.TOO_MANY_REQUESTS else Exit.DATA


def _what_is_wrong(response: Response) -> str:
    problem = _problem(response)
    missing = _missing(response) if response.status == HTTPStatus.NOT_FOUND else ""
    elsewhere = f"it is at {response.headers['Location']}" if "Location" in response.headers else ""
    said = (str(response.status), problem.get("detail") or problem.get("title"), missing, elsewhere)
    lines = ["the server answered " + ": ".join(str(part) for part in said if part)]
    places = ((item.get("pointer"), item.get("message")) for item in problem.get("problems", []))
    lines += ["  " + ": ".join(filter(None, place)) for place in places]
    return "\n".join(lines)


def _missing(response: Response) -> str:
    """Return what is not there; where something else answers, as it does where a path is left out, all of the address.

    What this application has not is not named by where programs find it.
    """
    if _problem(response):
        return urlsplit(response.request.url).path.partition("/api/v1/")[2]
    return f"{response.request.url}: is this the address of a toolevals server, with its path?"


def _problem(response: Response) -> dict[str, Any]:
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
