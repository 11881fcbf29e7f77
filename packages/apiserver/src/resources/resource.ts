// One served resource. Verbs are generic; kinds differ in data (codec, strategy, columns).

import type { Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { ReplicasPaths } from '#schema/apply/scaleManagers';
import type { ScaleSubresource } from '../crd/crd.ts';
import type { DeleteOptions } from '../http/query.ts';
import type { NameRule } from '../metadata/validateMeta.ts';
import { Stored } from '../store/stored.ts';
import type { TablePrinter } from '../tables/printer.ts';

/** The result of decoding a body: the object with defaults, and its strict validation errors. */
export interface Decoded {
  readonly object: KubeObject;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`, in the order Kubernetes reports them. */
  readonly problems: readonly string[];
}

/** Converts request bodies to objects of this version, and stored objects to shown ones. */
export interface Codec {
  /** Kind and apiVersion are already checked. Throws DecodeError when the value cannot be decoded as this kind. */
  decode(value: JsonObject, notes?: JsonNotes): Decoded;
  /** Decodes the result of a strategic merge patch, which has other error messages than a body. */
  convert?(value: JsonObject): Decoded;
  /** Decodes the result of an apply: the fields are known to be valid, only defaults are missing. Modifies `value`. */
  complete?(value: JsonObject): KubeObject;
  /** Decodes a protobuf message of this kind; absent for kinds without a protobuf form. */
  decodeProtobuf?(message: Uint8Array): Decoded;
  /** True when this version shows the stored bytes unchanged, so that they need no parsing. */
  verbatim(stored: Stored): boolean;
  /** The stored object in this version (the same object when verbatim). */
  show(stored: Stored): KubeObject;
  /** The object in its stored form. */
  toStorage(object: KubeObject): KubeObject;
}

/** What strategies may use in addition to the objects. */
export interface StrategyContext {
  readonly now: Instant;
  readonly random: Random;
  readonly user: UserInfo;
  /** Whether the user may use the verb on a cluster-scoped resource. */
  readonly isAllowed: (verb: string, group: string, resource: string, name: string) => boolean;
  /** Reads a committed object of another resource, by stored resource and key. */
  readonly get: (resource: string, key: string) => KubeObject | undefined;
  /** All objects of a resource, including uncommitted ones, in no particular order. */
  readonly list: (resource: string) => Iterable<KubeObject>;
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void;
  readonly dryRun: boolean;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** How an update through the resource or one of its subresources behaves. */
export interface UpdateStrategy {
  /** Resets the fields that this endpoint may not change and computes derived fields. May modify `next`. */
  prepareForUpdate?(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  /** `meta`: the errors of the metadata, which the result need not repeat. */
  validateUpdate?(
    next: KubeObject,
    old: KubeObject,
    context: StrategyContext,
    meta: readonly FieldError[],
  ): FieldError[];
  /** Applies the validating admission plugins of a default server, after validation. Throws to reject. */
  approve?(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): void;
  /** validateUpdate validates metadata itself, where Kubernetes does; otherwise the generic validation runs twice. */
  readonly validatesMeta?: boolean;
  /** Final normalization on create and update, after validation. */
  canonicalize?(object: KubeObject): void;
  warnings?(next: KubeObject, old: KubeObject | undefined): string[];
}

/**
 * Behavior of a kind that Kubernetes implements in code. All members are optional; by default the generic behavior
 * applies.
 */
export interface Strategy extends UpdateStrategy {
  readonly nameRule: NameRule;
  /** Sent as a Warning with every request to the resource. */
  readonly deprecation?: string;
  /**
   * Defaults that the table cannot express. Runs after decoding, before the defaults of the table and before
   * admission.
   */
  applyDefaults?(object: KubeObject): void;
  /** Applies the mutating admission plugins of a default server; `old` is absent on create. May throw. */
  admit?(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): void;
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** `meta`: the errors of the metadata, which the result need not repeat. */
  validate?(object: KubeObject, context: StrategyContext, meta: readonly FieldError[]): FieldError[];
  /** Reports metadata errors only when `validate` finds none. */
  readonly metaLast?: boolean;
  /** A last check of a new object just before it is stored, since webhooks may have taken time. May throw. */
  confirmCreate?(object: KubeObject): void;
  /** PUT creates a missing object (Lease, Event, …). */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites. Default: true. */
  readonly unconditionalUpdate?: boolean;
  /** The server maintains metadata.generation: 1 on create, +1 when anything except metadata and status changes. */
  readonly generation?: boolean;
  /** DELETE returns the object instead of a Status. */
  readonly returnDeleted?: boolean;
  /** The default propagation policy of DELETE. Unsupported: policies are ignored (Event). */
  readonly defaultPropagation?: 'Orphan' | 'Unsupported';
  /** Accepts finalizers without a domain, as in the few built-in groups that Kubernetes validates less strictly. */
  readonly anyFinalizer?: boolean;
  /** The grace period in seconds for the requested period; undefined: the object is deleted at once. */
  gracePeriod?(object: KubeObject, requested: number | undefined): number | undefined;
  /** Warnings for a DELETE with these options. */
  deleteWarnings?(options: DeleteOptions): string[];
  /** A terminating object without finalizers is deleted only when this returns true (Namespace). */
  isReleased?(object: KubeObject): boolean;
  /** With markDeleted: finalizers depend on the propagation policy (Namespace). */
  readonly propagates?: boolean;
  /** Replaces the generic DELETE (Namespace): modifies the object to its next state instead of removing it. */
  markDeleted?(object: KubeObject, context: StrategyContext): 'delete' | 'keep';
  /** The update strategy of each subresource that is written with the whole object (`status`, `finalize`, …). */
  readonly subresources?: Readonly<Record<string, UpdateStrategy>>;
}

export interface SubresourceInfo {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

export interface CustomScale {
  readonly fields: ScaleSubresource;
  /** The path of the replicas in each version of the kind. */
  readonly replicas: ReplicasPaths;
  readonly printer: TablePrinter;
}

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly storageVersionHash: string;
  readonly subresources: readonly SubresourceInfo[];
  /** The resource name in the store; versions of one resource share it. */
  readonly storage: string;
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  readonly codec: Codec;
  readonly strategy: Strategy;
  /** Values of field selectors besides metadata.name and metadata.namespace; the keys are the allowed labels. */
  readonly fieldLabels: readonly string[];
  fields(object: KubeObject): Record<string, string>;
  /** The error for an unsupported field selector, where it differs from the usual one. */
  unsupportedField?(label: string): string;
  /** The kind in validation errors, where it is not the own one: every Event is shown as one of the core group. */
  readonly refusedAs?: { readonly group: string; readonly kind: string };
  readonly printer: TablePrinter;
  /** Type with the merge data for strategic merge patches; undefined where they are 415. */
  readonly patchType?: string;
  /** openAPIV3Schema of this version of a custom resource. */
  readonly schema?: JsonObject;
  /** The scale subresource of a custom resource. */
  readonly scale?: CustomScale;
  /** Warning headers of every response, for a deprecated version. */
  readonly warnings?: readonly string[];
  /** Every request fails with this error: the version needs a feature that the server does not have. */
  readonly unservable?: () => ApiError;
}

/** An object as a client would read it after it was stored. */
export const throughStorage = (codec: Codec, object: KubeObject): KubeObject =>
  codec.show(new Stored('', 0, NO_BYTES, codec.toStorage(object)));

const NO_BYTES = new Uint8Array();

/** The kind in validation errors. */
export const refusedKind = (resource: Resource) => resource.refusedAs ?? resource;

export const storageName = (group: string, plural: string) => (group === '' ? plural : `${plural}.${group}`);

/** Key of an object within its resource. */
export const keyOf = (namespace: string | undefined, name: string) =>
  namespace ? `${namespace}/${name}` : name;

export const specOf = (object: KubeObject): JsonObject => (object['spec'] as JsonObject | undefined) ?? {};
export const statusOf = (object: KubeObject): JsonObject =>
  (object['status'] as JsonObject | undefined) ?? {};
