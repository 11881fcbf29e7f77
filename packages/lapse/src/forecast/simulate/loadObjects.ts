// Loads objects into a simulated cluster before the controllers start. Objects with a resourceVersion come from a
// cluster and are stored unchanged. All others were written by a user and are created with validation, defaults and
// admission. A uid and timestamps in the manifest are kept.

import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Simulation } from '@lapse/simulation/simulate';
import { KindNotServed } from '@lapse/simulation/userClient';
import { UsageError } from '#manager/usage';
import { describeObject } from './manifests.ts';

export interface LoadOptions {
  readonly objects: readonly KubeObject[];
  /** Names of existing CRDs that are not replaced. */
  readonly given: ReadonlySet<string>;
  /** If true, objects that cannot be loaded are skipped and counted. Otherwise they are an error. */
  readonly isSnapshot: boolean;
}

/** Returns messages about skipped objects. */
export async function loadObjects(simulation: Simulation, options: LoadOptions): Promise<string[]> {
  const isDefinition = ({ kind }: KubeObject) => kind === CustomResourceDefinition.kind;
  const isNamespace = ({ kind, apiVersion }: KubeObject) => kind === 'Namespace' && apiVersion === 'v1';
  const definitions = options.objects.filter(
    (object) => isDefinition(object) && !options.given.has(object.metadata.name ?? ''),
  );
  const rest = options.objects.filter((object) => !isDefinition(object));
  const left = new Map<string, number>();
  const place = async (objects: readonly KubeObject[]) => {
    for (const object of objects) {
      const problem = await put(simulation, object, options.isSnapshot);
      if (problem !== undefined) left.set(problem, (left.get(problem) ?? 0) + 1);
    }
  };
  await ageDefinitions(simulation, options);
  await place(definitions);
  await simulation.settle();
  simulation.user.discovery.invalidate();
  await place(rest.filter(isNamespace));
  await createNamespaces(simulation, rest);
  await place(rest.filter((object) => !isNamespace(object)));
  return [...left].map(([problem, count]) => `${count} left out: ${problem}`);
}

/**
 * The CRDs of this version replace those of the cluster and get their creation time: an object older than the CRD
 * of its kind would look like a leftover.
 */
async function ageDefinitions(simulation: Simulation, { objects, given }: LoadOptions): Promise<void> {
  const theirs = new Map(
    objects
      .filter(({ kind }) => kind === CustomResourceDefinition.kind)
      .map((crd) => [crd.metadata.name, crd]),
  );
  const times = objects
    .map(({ metadata }) => metadata.creationTimestamp)
    .filter((time) => time !== undefined);
  const [oldest] = times.sort();
  for (const name of given) {
    const made = await simulation.user.get(CustomResourceDefinition, { name });
    if (made === undefined) continue;
    const { uid, creationTimestamp = oldest } = theirs.get(name)?.metadata ?? {};
    const age = {
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    };
    await simulation.server.importObject({ ...made, metadata: { ...made.metadata, ...age } });
  }
}

/** Returns why an object of a snapshot cannot be loaded. Throws for an object written by a user. */
async function put(
  simulation: Simulation,
  object: KubeObject,
  isSnapshot: boolean,
): Promise<string | undefined> {
  try {
    if (object.metadata.resourceVersion === undefined) await create(simulation, object);
    else if (!(await simulation.server.importObject(object)))
      throw new KindNotServed(`the kind ${object.kind} of ${object.apiVersion} is not served`);
    return undefined;
  } catch (cause) {
    const { message } = cause as Error;
    if (isSnapshot) return message.slice(0, 200);
    const hint = cause instanceof KindNotServed ? '; add its CustomResourceDefinition to the files' : '';
    throw new UsageError(`${describeObject(object)}: ${message}${hint}`);
  }
}

async function create(simulation: Simulation, object: KubeObject): Promise<void> {
  const { managedFields: _, ...metadata } = object.metadata;
  const { status, ...stated } = object;
  await simulation.userClient.apply({ ...stated, metadata } as KubeObject);
  const made = await simulation.userClient.get(refOf(object));
  if (made === undefined) return;
  // The API server sets these fields. The values of the file replace them afterwards.
  const { uid, creationTimestamp, deletionTimestamp } = metadata;
  const said = {
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
  };
  const state = status === undefined ? {} : { status };
  const own = withUid(made, uid);
  await simulation.server.importObject({ ...own, ...state, metadata: { ...own.metadata, ...said } });
}

/** Replaces the uid, also where the API server has written it into the object (the selector of a Job). */
function withUid(made: KubeObject, uid: string | undefined): KubeObject {
  const before = made.metadata.uid;
  if (uid === undefined || before === undefined || !/^[\w-]+$/.test(uid)) return made;
  return JSON.parse(JSON.stringify(made).replaceAll(before, uid)) as KubeObject;
}

/** A reference by kind and group, as simulation.userClient reads it. */
export function refOf({ apiVersion, kind, metadata }: KubeObject): string {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  const word = group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
  const { namespace, name } = metadata;
  return namespace === undefined ? `${word}/${name}` : `${namespace}/${word}/${name}`;
}

/** Manifests rarely include the namespaces of their objects. */
async function createNamespaces(simulation: Simulation, objects: readonly KubeObject[]): Promise<void> {
  const names = new Set(
    objects.map(({ metadata }) => metadata.namespace).filter((name) => name !== undefined),
  );
  for (const name of names)
    if ((await simulation.userClient.get(`namespace/${name}`)) === undefined)
      await simulation.userClient.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
