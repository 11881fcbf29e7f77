// Puts objects into a simulated cluster before anybody acts in it. What has a resourceVersion comes from a cluster and
// enters as it was; what has none was written by a person and is created as a person would, with validation, defaults and
// admission. A uid and times that the person wrote count all the same.

import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Simulation } from '@lapse/simulation/simulate';
import { UsageError } from '#manager/usage';
import { describeObject } from './manifests.ts';

export interface Furnishing {
  readonly objects: readonly KubeObject[];
  /** Names of definitions that are there already and stay. */
  readonly given: ReadonlySet<string>;
  /** Set: what cannot be taken is left out and counted; otherwise it is an error. */
  readonly isSnapshot: boolean;
}

/** Says what was left out. */
export async function furnish(simulation: Simulation, furnishing: Furnishing): Promise<string[]> {
  const isDefinition = ({ kind }: KubeObject) => kind === CustomResourceDefinition.kind;
  const isNamespace = ({ kind, apiVersion }: KubeObject) => kind === 'Namespace' && apiVersion === 'v1';
  const definitions = furnishing.objects.filter(
    (object) => isDefinition(object) && !furnishing.given.has(object.metadata.name ?? ''),
  );
  const rest = furnishing.objects.filter((object) => !isDefinition(object));
  const left = new Map<string, number>();
  const place = async (objects: readonly KubeObject[]) => {
    for (const object of objects) {
      const problem = await put(simulation, object, furnishing.isSnapshot);
      if (problem !== undefined) left.set(problem, (left.get(problem) ?? 0) + 1);
    }
  };
  await ageDefinitions(simulation, furnishing);
  await place(definitions);
  await simulation.settle();
  simulation.user.discovery.invalidate();
  await place(rest.filter(isNamespace));
  await createNamespaces(simulation, rest);
  await place(rest.filter((object) => !isNamespace(object)));
  return [...left].map(([problem, count]) => `${count} left out: ${problem}`);
}

/**
 * The definitions of this version stand for those of the cluster, and are as old as those: what is older than the
 * definition of its kind would look like something that outlived it.
 */
async function ageDefinitions(simulation: Simulation, { objects, given }: Furnishing): Promise<void> {
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

/** What stands in the way of a snapshot's object is answered; of a person's it is thrown. */
async function put(
  simulation: Simulation,
  object: KubeObject,
  isSnapshot: boolean,
): Promise<string | undefined> {
  try {
    if (object.metadata.resourceVersion === undefined) await create(simulation, object);
    else if (!(await simulation.server.importObject(object)))
      throw new Error(`the kind ${object.kind} of ${object.apiVersion} is not served here`);
    return undefined;
  } catch (cause) {
    const { message } = cause as Error;
    if (isSnapshot) return message.slice(0, 200);
    const hint = /not served/.test(message) ? '; give its CustomResourceDefinition too' : '';
    throw new UsageError(`${describeObject(object)}: ${message}${hint}`);
  }
}

async function create(simulation: Simulation, object: KubeObject): Promise<void> {
  const { managedFields: _, ...metadata } = object.metadata;
  const { status, ...stated } = object;
  await simulation.hands.apply({ ...stated, metadata } as KubeObject);
  const made = await simulation.hands.get(refOf(object));
  if (made === undefined) return;
  // The server writes these itself; what the file says is put in their place afterwards.
  const { uid, creationTimestamp, deletionTimestamp } = metadata;
  const said = {
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
  };
  const state = status === undefined ? {} : { status };
  const own = withUid(made, uid);
  await simulation.server.importObject({ ...own, ...state, metadata: { ...own.metadata, ...said } });
}

/** With another uid, also where the server has written it into the object (the selector of a Job). */
function withUid(made: KubeObject, uid: string | undefined): KubeObject {
  const before = made.metadata.uid;
  if (uid === undefined || before === undefined || !/^[\w-]+$/.test(uid)) return made;
  return JSON.parse(JSON.stringify(made).replaceAll(before, uid)) as KubeObject;
}

/** As simulation.hands finds it: by kind and group. */
export function refOf({ apiVersion, kind, metadata }: KubeObject): string {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  const word = group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
  const { namespace, name } = metadata;
  return namespace === undefined ? `${word}/${name}` : `${namespace}/${word}/${name}`;
}

/** A file rarely brings the namespaces of what is in it. */
async function createNamespaces(simulation: Simulation, objects: readonly KubeObject[]): Promise<void> {
  const names = new Set(
    objects.map(({ metadata }) => metadata.namespace).filter((name) => name !== undefined),
  );
  for (const name of names)
    if ((await simulation.hands.get(`namespace/${name}`)) === undefined)
      await simulation.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
