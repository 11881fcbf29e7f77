# A session with the official client: lists, pages, watches, resumes, patches and deletes; typed, custom and dynamic.
# Prints one JSON object: what it saw, by name. The server is the one of the kubeconfig in the first argument.

import json
import sys
import threading

from kubernetes import client, config, dynamic, watch

config.load_kube_config(config_file=sys.argv[1])
core = client.CoreV1Api()
batch = client.BatchV1Api()
custom = client.CustomObjectsApi()
seen = {}

SPACE = "python"
GROUP = "python.example.com"
META = client.V1ObjectMeta


def refused(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except client.ApiException as error:
        return {"code": error.status, "reason": json.loads(error.body)["reason"]}
    return None


def config_map(name, **labels):
    return client.V1ConfigMap(metadata=META(name=name, labels=labels), data={"a": "1"})


def events_of(stream):
    return [[event["type"], event["object"].metadata.name] for event in stream]


core.create_namespace(client.V1Namespace(metadata=META(name=SPACE)))
seen["namespaces"] = [item.metadata.name for item in core.list_namespace().items]
seen["version"] = client.VersionApi().get_code().major

for i in range(5):
    core.create_namespaced_config_map(SPACE, config_map("map-%d" % i, parity="odd" if i % 2 else "even"))
listed = core.list_namespaced_config_map(SPACE)
seen["list"] = [item.metadata.name for item in listed.items]
seen["selected"] = [
    item.metadata.name for item in core.list_namespaced_config_map(SPACE, label_selector="parity=odd").items
]

pages = []
token = None
while True:
    page = core.list_namespaced_config_map(SPACE, limit=2, _continue=token)
    pages.append([item.metadata.name for item in page.items])
    token = page.metadata._continue
    if not token:
        break
seen["pages"] = pages

# From the list on: what changes meanwhile is seen, in order.
started = threading.Event()


def change():
    started.wait()
    core.patch_namespaced_config_map("map-1", SPACE, {"data": {"a": "2"}})
    core.patch_namespaced_config_map("map-3", SPACE, {"metadata": {"labels": {"parity": "none"}}})
    core.create_namespaced_config_map(SPACE, config_map("late", parity="odd"))
    core.delete_namespaced_config_map("late", SPACE)


changer = threading.Thread(target=change)
changer.start()
watching = watch.Watch()
heard = []
started.set()
for event in watching.stream(
    core.list_namespaced_config_map,
    SPACE,
    label_selector="parity=odd",
    resource_version=listed.metadata.resource_version,
    timeout_seconds=30,
):
    heard.append([event["type"], event["object"].metadata.name])
    if len(heard) == 4:
        watching.stop()
changer.join()
seen["watched"] = heard

# Without a version: what there is comes first, then the stream ends at its time.
seen["initial"] = events_of(
    watch.Watch().stream(core.list_namespaced_config_map, SPACE, label_selector="parity", timeout_seconds=1)
)

job = client.V1Job(
    metadata=META(name="report"),
    spec=client.V1JobSpec(
        ttl_seconds_after_finished=60,
        template=client.V1PodTemplateSpec(
            spec=client.V1PodSpec(restart_policy="Never", containers=[client.V1Container(name="c", image="x")])
        ),
    ),
)
made = batch.create_namespaced_job(SPACE, job)
seen["job"] = [made.spec.backoff_limit, made.spec.ttl_seconds_after_finished, made.metadata.generation]
seen["stale"] = refused(
    batch.replace_namespaced_job,
    "report",
    SPACE,
    client.V1Job(metadata=META(name="report", resource_version="1"), spec=made.spec),
)
seen["invalid"] = refused(batch.create_namespaced_job, SPACE, client.V1Job(metadata=META(name="A")))
seen["missing"] = refused(core.read_namespaced_config_map, "nobody", SPACE)

definition = client.V1CustomResourceDefinition(
    metadata=META(name="toys.%s" % GROUP),
    spec=client.V1CustomResourceDefinitionSpec(
        group=GROUP,
        scope="Namespaced",
        names=client.V1CustomResourceDefinitionNames(plural="toys", kind="Toy"),
        versions=[
            client.V1CustomResourceDefinitionVersion(
                name="v1",
                served=True,
                storage=True,
                schema=client.V1CustomResourceValidation(
                    open_apiv3_schema=client.V1JSONSchemaProps(
                        type="object",
                        properties={
                            "spec": client.V1JSONSchemaProps(
                                type="object",
                                properties={"size": client.V1JSONSchemaProps(type="integer", default=7)},
                            )
                        },
                    )
                ),
            )
        ],
    ),
)
extensions = client.ApiextensionsV1Api()
extensions.create_custom_resource_definition(definition)
for event in watch.Watch().stream(extensions.list_custom_resource_definition, timeout_seconds=30):
    conditions = {item.type: item.status for item in event["object"].status.conditions or []}
    if event["object"].metadata.name == "toys.%s" % GROUP and conditions.get("Established") == "True":
        break
toy = {"apiVersion": "%s/v1" % GROUP, "kind": "Toy", "metadata": {"name": "ball"}, "spec": {}}
seen["custom"] = custom.create_namespaced_custom_object(GROUP, "v1", SPACE, "toys", toy)["spec"]
toys = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="%s/v1" % GROUP, kind="Toy")
applied = toys.server_side_apply(
    body={**toy, "spec": {"size": 9}}, namespace=SPACE, field_manager="python", force_conflicts=True
)
seen["applied"] = [applied.spec.size, applied.metadata.managedFields[0].manager]

core.delete_collection_namespaced_config_map(SPACE, label_selector="parity=even")
seen["left"] = [item.metadata.name for item in core.list_namespaced_config_map(SPACE).items]
print(json.dumps(seen))
