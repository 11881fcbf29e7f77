// A DELETE with wrong preconditions is answered with 409 and deletes nothing, for one kind on any target.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { expect } from 'vitest';
import type { Ask } from '../model/ask.ts';
import { fill } from '../replay/templates.ts';
import { MINIMAL, nameOf } from './minimal.ts';
import type { Served } from './served.ts';

export const NS = 'preconditions';
const OTHER_UID = '00000000-0000-4000-8000-000000000000';
const OTHER_VERSION = '1';

const WRONG: Readonly<Record<string, JsonObject>> = {
  'another uid': { uid: OTHER_UID },
  'another resourceVersion': { resourceVersion: OTHER_VERSION },
  'both wrong': { uid: OTHER_UID, resourceVersion: OTHER_VERSION },
};

export async function expectPreconditionsHold(ask: Ask, served: Served): Promise<void> {
  const path = await createMinimal(ask, served);
  const read = async () => (await ask('GET', path)).body;
  const before = await read();
  const { uid, resourceVersion } = metadataOf(before);
  for (const [what, preconditions] of [
    ...Object.entries(WRONG),
    ['the right uid and another resourceVersion', { uid, resourceVersion: OTHER_VERSION }] as const,
    ['another uid and the right resourceVersion', { uid: OTHER_UID, resourceVersion }] as const,
  ]) {
    const { status, body } = await ask('DELETE', path, { preconditions: preconditions as Json });
    expect([status, isObject(body) && body.reason], `${served.id}, ${what}`).toEqual([409, 'Conflict']);
    expect(lasting(await read()), `${served.id}, ${what}`).toEqual(lasting(before));
  }
  await deleteRight(ask, path);
}

/** Some kinds get a status from the server itself, which changes their version meanwhile. */
function lasting(object: Json | undefined): Json {
  if (!isObject(object) || !isObject(object.metadata)) return object ?? null;
  const { status: _, ...rest } = object;
  const { resourceVersion: __, managedFields: ___, ...metadata } = object.metadata;
  return { ...rest, metadata };
}

/** With correct preconditions it is deleted. It is read again if the server itself changed it in between. */
async function deleteRight(ask: Ask, path: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const preconditions = metadataOf((await ask('GET', path)).body);
    const options = { preconditions, gracePeriodSeconds: 0, propagationPolicy: 'Background' };
    const { status, body } = await ask('DELETE', path, options);
    if (status === 409 && tries < 10) continue;
    expect([path, status, status === 200 ? '' : body]).toEqual([path, 200, '']);
    return;
  }
}

async function createMinimal(ask: Ask, served: Served): Promise<string> {
  const rest = MINIMAL[served.id];
  if (rest === undefined) throw new Error(`minimal.ts has no object for ${served.id}`);
  const name = nameOf(served.id);
  const collection = `${served.root}${served.namespaced ? `/namespaces/${NS}` : ''}/${served.plural}`;
  const object = fill(
    { apiVersion: served.apiVersion, kind: served.kind, metadata: { name }, ...rest },
    { name: 'kept', ns: NS },
  );
  const { status, body } = await ask('POST', collection, object);
  expect([served.id, status, status === 201 ? '' : body]).toEqual([served.id, 201, '']);
  return `${collection}/${name}`;
}

function metadataOf(object: Json | undefined): { uid: string; resourceVersion: string } {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  return { uid: String(metadata.uid), resourceVersion: String(metadata.resourceVersion) };
}
