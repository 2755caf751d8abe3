"""Dockerfile and compose.yaml: what their linters say, and what an installation asks of them beside that."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from scripts.dev.environment import ROOT
from tests.project.test_settings_names import FOLDER, READ
from tests.serving.containers import IMAGE, checked_by, compose, image, image_environment, own_services, stages

HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent))
SETTINGS = {f"TOOLEVALS_{name}" for file in FOLDER.glob("*.py") for name in READ.findall(file.read_text())}
# Of other programs, and of the command that writes backups.
OTHERS = {
    "DJANGO_SETTINGS_MODULE", "HOSTNAME", "MALLOC_ARENA_MAX", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
    "POSTGRES_HOST_AUTH_METHOD", "POSTGRES_USER", "TOOLEVALS_BACKUP_PASSPHRASE",
}  # fmt: skip


@pytest.mark.skipif(HADOLINT is None, reason="hadolint is built for Linux on x86-64 only")
def test_hadolint_finds_nothing_in_the_dockerfile():
    done = subprocess.run([str(HADOLINT), "--failure-threshold", "style", ROOT / "Dockerfile"], check=False)
    assert done.returncode == 0


def test_compose_is_what_the_compose_specification_allows():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_image_is_pinned_small_and_nobodys_but_its_user():
    bases = [re.fullmatch(r"python:3\.\d+-slim-\w+( AS build)?", stage[0].rest) for stage in stages()]
    assert all(bases)
    assert image("USER").rest == "10001:10001"
    assert image("CMD").words[0] == "gunicorn"
    (installed,) = [each.rest for each in stages()[-1] if each.name == "RUN"]
    assert "--no-install-recommends" in installed
    assert "rm -rf /var/lib/apt/lists/*" in installed
    fetched = [each.rest for each in stages()[0] if each.name == "RUN"]
    assert all("--require-hashes" in rest or "--no-index" in rest for rest in fetched)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"toolevals:{version}" == IMAGE


def test_each_service_of_compose_is_shut_in_and_watched():
    file = compose()
    for name, service in file["services"].items():
        assert service["read_only"], name
        assert service["tmpfs"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not {"privileged", "cap_add", "network_mode", "pid", "devices"} & service.keys(), name
        assert name == "migrate" or checked_by(service), name
        assert re.fullmatch(r"[a-z]+:[0-9][\w.-]*", service["image"]), name
        assert service["image"] == IMAGE or service["user"] not in ("root", "0"), name
        assert set(service.get("depends_on", ())) <= file["services"].keys(), name
        assert set(service["networks"]) <= file["networks"].keys(), name
        assert {volume.split(":")[0] for volume in service.get("volumes", ()) if ":" in volume} <= file[
            "volumes"
        ].keys(), name
    assert len(own_services()) == len(file["services"]) - 2


def test_what_asks_for_no_password_is_reached_by_no_other_network():
    file = compose()
    assert file["networks"]["data"] == {"internal": True}
    for name in ("postgres", "redis"):
        assert file["services"][name]["networks"] == ["data"]
        assert "ports" not in file["services"][name]
    published = [port for service in file["services"].values() for port in service.get("ports", ())]
    assert published == ["127.0.0.1:8000:8000"]


def test_the_workers_serve_each_queue_once():
    words = [word for service in own_services().values() for word in service.get("command", ())]
    served = ",".join(word.removeprefix("--queues=") for word in words if word.startswith("--queues="))
    assert sorted(served.split(",")) == sorted(queue.name for queue in settings.CELERY_TASK_QUEUES)


def test_every_variable_is_a_setting_and_none_holds_a_secret():
    services = compose()["services"].values()
    said = [*image_environment().items(), *(pair for each in services for pair in each.get("environment", {}).items())]
    used = set(re.findall(r"\$\{?([A-Z_]{5,})", (ROOT / "compose.yaml").read_text()))
    assert {name for name, _ in said} | used <= SETTINGS | OTHERS
    assert not any(re.search("KEY|PASS|TOKEN|SECRET", name) or re.search(r":[^/@]+@", value) for name, value in said)


def kubernetes() -> dict[tuple[str, str], dict[str, Any]]:
    """Return each object of the example by its kind and name."""
    items = yaml.safe_load((ROOT / "docs" / "examples" / "deployment" / "kubernetes.yaml").read_text())["items"]
    return {(item["kind"], item["metadata"]["name"].removeprefix("toolevals-")): item for item in items}


def pods() -> dict[str, dict[str, Any]]:
    """Return what each Job, CronJob and Deployment runs, by its name."""
    found = {}
    for (kind, name), item in kubernetes().items():
        if kind in ("Job", "Deployment"):
            found[name] = item["spec"]["template"]["spec"]
        elif kind == "CronJob":
            found[name] = item["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def test_kubernetes_runs_the_processes_of_compose():
    services, said = own_services(), {name: pod["containers"][0]["command"] for name, pod in pods().items()}
    assert said.keys() == services.keys()
    assert said["web"] == image("CMD").words
    assert said["backup"] == ["toolevals", "backup", "/backups", "--keep", "14"]
    assert " ".join(said["backup"]) in services["backup"]["command"][-1]
    for name in ("migrate", "worker-quick"):
        assert said[name] == services[name]["command"]
    # KEDA starts more pods where Celery starts more processes.
    assert said["worker-slow"] == [
        "--concurrency=2" if word.startswith("--autoscale") else word for word in services["worker-slow"]["command"]
    ]
    for name in ("worker-quick", "worker-slow"):
        probe = pods()[name]["containers"][0]["livenessProbe"]["exec"]["command"]
        assert probe[1:] == checked_by(services[name])[1:]


def test_each_pod_is_shut_in_and_mounts_what_there_is():
    claims = {f"toolevals-{name}" for kind, name in kubernetes() if kind == "PersistentVolumeClaim"}
    for name, pod in pods().items():
        (container,) = pod["containers"]
        user = int(image("USER").rest.partition(":")[0])
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["runAsUser"] == user, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert container["image"].endswith(f"/{IMAGE}"), name
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys(), name
        claimed = {volume["persistentVolumeClaim"]["claimName"] for key, volume in volumes.items() if key != "tmp"}
        assert claimed <= claims, name
    settings_named = kubernetes()["ConfigMap", "toolevals"]["data"].keys()
    assert settings_named <= SETTINGS
    assert not any(re.search("KEY|PASS|TOKEN|SECRET|DATABASE_URL", name) for name in settings_named)


def test_probes_ask_addresses_that_there_are_and_workers_are_scaled_by_their_own_queues():
    container = pods()["web"]["containers"][0]
    probes = [container[name]["httpGet"]["path"].partition("?")[0] for name in ("livenessProbe", "readinessProbe")]
    assert probes == ["/healthz", "/readyz"]
    assert {"/healthz", "/readyz"} <= set(settings.ASKED_BY_ADDRESS)
    scaled = {name: item["spec"] for (kind, name), item in kubernetes().items() if kind == "ScaledObject"}
    assert scaled.keys() == {name for name in pods() if name.startswith("worker")}
    for name, spec in scaled.items():
        assert spec["scaleTargetRef"]["name"] == f"toolevals-{name}"
        assert spec["minReplicaCount"] >= 1
        (served,) = [word for word in pods()[name]["containers"][0]["command"] if word.startswith("--queues=")]
        query = spec["triggers"][0]["metadata"]["query"]
        assert f'{{queue=~"{served.removeprefix("--queues=").replace(",", "|")}"}}' in query
