// Strategy of CustomResourceDefinition: its defaults, fields set by the server, and deletion. The controller serves
// the defined resources.

import { formatTime, type Instant } from '@lapse/base/instant';
import { clone, isObject, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy, StrategyContext } from '../resources/resource.ts';
import { subdomainName } from '../strategies/names.ts';
import { setCondition } from './conditions.ts';
import { objectAt, objectsAt, readSpec, storageVersion, textAt, textsAt } from './crd.ts';
import { validateCrd, validateCrdUpdate, validateStatusUpdate } from './validate/crd.ts';
import { formatWarnings } from './validate/formats.ts';

/** Keeps a terminating CRD until its objects are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const crdStrategy: Strategy = {
  nameRule: subdomainName,
  anyFinalizer: true,
  generation: true,
  unconditionalUpdate: false,
  applyDefaults,
  prepareForCreate(object) {
    specOf(object)['status'] = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: null,
    };
    addStoredVersion(object);
  },
  prepareForUpdate(next, old) {
    specOf(next)['status'] = clone(specOf(old)['status']);
    addStoredVersion(next);
  },
  validate: validateCrd,
  validateUpdate: validateCrdUpdate,
  warnings: (next, old) => formatWarnings(readSpecOf(next), old && readSpecOf(old)),
  markDeleted(object, context: StrategyContext) {
    if (object.metadata.deletionTimestamp === undefined) markTerminating(object, context.now);
    return (object.metadata.finalizers ?? []).length === 0 ? 'delete' : 'keep';
  },
  subresources: {
    status: {
      // The status endpoint of CRDs can change metadata: clients remove finalizers through it.
      prepareForUpdate(next, old) {
        specOf(next)['spec'] = clone(specOf(old)['spec']);
      },
      validateUpdate: validateStatusUpdate,
    },
  },
};

const specOf = (object: KubeObject) => object as unknown as JsonObject;
const readSpecOf = (object: KubeObject) => readSpec(objectAt(specOf(object), 'spec'));

/** Derives singular and list kind from the kind, and storedVersions from the storage version. */
function applyDefaults(object: KubeObject): void {
  const json = specOf(object);
  const spec = objectAt(json, 'spec');
  const names = objectAt(spec, 'names');
  const kind = textAt(names, 'kind');
  if (kind !== '' && textAt(names, 'singular') === '') names['singular'] = kind.toLowerCase();
  if (kind !== '' && textAt(names, 'listKind') === '') names['listKind'] = `${kind}List`;
  spec['conversion'] ??= { strategy: 'None' };
  dropEmptyWebhook(objectAt(spec, 'conversion'));
  const status = objectAt(json, 'status');
  if (textsAt(status, 'storedVersions').length > 0) return;
  const stored = objectsAt(spec, 'versions').find((v) => v['storage'] === true);
  if (stored) json['status'] = { ...status, storedVersions: [textAt(stored, 'name')] };
}

/** An empty webhook is dropped: the internal type has its fields inline. */
function dropEmptyWebhook(conversion: JsonObject): void {
  const { webhook } = conversion;
  if (!isObject(webhook) || webhook['clientConfig']) return;
  if (textsAt(webhook, 'conversionReviewVersions').length > 0) return;
  delete conversion['webhook'];
}

function addStoredVersion(object: KubeObject): void {
  const status = objectAt(specOf(object), 'status');
  const name = storageVersion(readSpecOf(object))?.name;
  const stored = textsAt(status, 'storedVersions');
  if (name !== undefined && !stored.includes(name)) status['storedVersions'] = [...stored, name];
}

/** The first DELETE only marks the CRD: the finalizer keeps it until the controller has deleted its objects. */
function markTerminating(object: KubeObject, now: Instant): void {
  const { metadata } = object;
  metadata.deletionTimestamp = formatTime(now);
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  setCondition(
    object,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  );
}
