// What the server knows about one served resource. Verbs are written once against this; kinds differ in data
// (codec, strategy, columns), not in verbs.

import type { Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Call } from '../context.ts';
import type { DeleteOptions } from '../decode/deleteOptions.ts';
import type { NameRule } from '../metadata/validateMeta.ts';
import { Stored } from '../store/stored.ts';
import type { TablePrinter } from '../tables/printer.ts';

/** What a body became: the object with defaults, and what strict validation would complain about. */
export interface Decoded {
  readonly object: KubeObject;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`, in the order Kubernetes reports them. */
  readonly problems: readonly string[];
}

/** Between bytes of a request and an object of this version, and between what is stored and what is shown. */
export interface Codec {
  /** Kind and apiVersion are already checked; throws DecodeError when the value cannot be this kind. */
  decode(value: JsonObject, notes?: JsonNotes): Decoded;
  /** The result of a strategic merge patch: never text, so it is refused in other words than a body. */
  convert?(value: JsonObject): Decoded;
  /** The result of an apply, whose fields are known to be this kind's: only defaults are missing. Edits `value`. */
  complete?(value: JsonObject): KubeObject;
  /** A protobuf message of this kind; absent where there is no protobuf form. */
  decodeProtobuf?(message: Uint8Array): Decoded;
  /** The stored bytes are what this version shows: no need to parse them. */
  verbatim(stored: Stored): boolean;
  /** The stored object as this version shows it (the same object when verbatim). */
  show(stored: Stored): KubeObject;
  /** The object of this version as it is stored. */
  toStorage(object: KubeObject): KubeObject;
}

/** What strategies may use besides the objects. */
export interface StrategyContext {
  readonly now: Instant;
  readonly random: Random;
  readonly user: UserInfo;
  /** Reads a committed object of another resource, by store table and key. */
  readonly get: (resource: string, key: string) => KubeObject | undefined;
  /** All objects of a resource, those of writes under way included, in no particular order. */
  readonly list: (resource: string) => Iterable<KubeObject>;
  /** Adds a Warning header to the answer. */
  readonly warn: (text: string) => void;
  readonly dryRun: boolean;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Behaviour of an update through the resource itself or through one of its subresources. */
export interface UpdateStrategy {
  /** Resets what this endpoint may not change, computes what it must. `next` may be edited. */
  prepareForUpdate?(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  /** `meta` is what is wrong with the metadata; it need not be answered again. */
  validateUpdate?(
    next: KubeObject,
    old: KubeObject,
    context: StrategyContext,
    meta: readonly FieldError[],
  ): FieldError[];
  /** validateUpdate checks metadata itself, where Kubernetes does; otherwise the generic check is repeated before it. */
  readonly validatesMeta?: boolean;
  /** The last touch, on create and update, after validation. */
  canonicalize?(object: KubeObject): void;
  warnings?(next: KubeObject, old: KubeObject | undefined): string[];
}

/** Behaviour of a kind that is code in Kubernetes. Everything is optional; absence means nothing special. */
export interface Strategy extends UpdateStrategy {
  readonly nameRule: NameRule;
  /** A Warning on every request to the resource. */
  readonly deprecation?: string;
  /** Defaults beyond the table: run after decoding, before those of the table and before admission. */
  applyDefaults?(object: KubeObject): void;
  /** What the admission plugins of a default server do to the object itself; `old` is absent on create. May refuse. */
  admit?(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): void;
  /** What validating admission plugins of a default server check, after validation. Throws to refuse. */
  approve?(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): void;
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** `meta` is what is wrong with the metadata; it need not be answered again. */
  validate?(object: KubeObject, context: StrategyContext, meta: readonly FieldError[]): FieldError[];
  /** Metadata is looked at only when `validate` finds nothing. */
  readonly metaLast?: boolean;
  /** A last look at a new object, in the turn in which it is stored: webhooks may have taken their time. May refuse. */
  confirmCreate?(object: KubeObject): void;
  /** PUT on a missing object creates it (Lease, Event, …). */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites. Default true. */
  readonly unconditionalUpdate?: boolean;
  /** metadata.generation is the server's: 1 on create, +1 when anything but metadata and status changes. */
  readonly generation?: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnDeleted?: boolean;
  /** What DELETE without a propagation policy means; Unsupported: policies are ignored altogether (Event). */
  readonly defaultPropagation?: 'Orphan' | 'Unsupported';
  /** Finalizers without a domain are accepted, as in the few built-in groups that Kubernetes checks less. */
  readonly anyFinalizer?: boolean;
  /** Seconds of grace for this object under the requested period; undefined = deleted at once. */
  gracePeriod?(object: KubeObject, requested: number | undefined): number | undefined;
  /** Warnings of a DELETE with these options. */
  deleteWarnings?(options: DeleteOptions): string[];
  /** A terminating object without finalizers goes only if this agrees (Namespace). */
  isReleased?(object: KubeObject): boolean;
  /** With markDeleted: finalizers follow the propagation policy (Namespace). */
  readonly propagates?: boolean;
  /** A chance to take over DELETE entirely (Namespace): answers the next state instead of removal. */
  markDeleted?(object: KubeObject, context: StrategyContext): 'delete' | 'keep';
  /** POST is a question that is answered and never stored (access reviews). */
  answer?(call: Call): Promise<HttpResponse>;
  /** Endpoints that are neither the object nor a part of it: `binding`, `eviction`, `token`, `scale`; by method. */
  readonly endpoints?: Readonly<
    Record<string, Readonly<Record<string, (call: Call) => Promise<HttpResponse>>>>
  >;
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
  /** Table of the store; versions of one resource share it. */
  readonly storage: string;
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  readonly codec: Codec;
  readonly strategy: Strategy;
  /** Values of field selectors besides metadata.name and metadata.namespace; the keys are the allowed labels. */
  readonly fieldLabels: readonly string[];
  fields(object: KubeObject): Record<string, string>;
  /** The words for a field selector that is not supported, where they differ from the usual ones. */
  unsupportedField?(label: string): string;
  /** The kind as refusals of its content name it, where that is not its own: every Event is one of the core group. */
  readonly refusedAs?: { readonly group: string; readonly kind: string };
  readonly printer: TablePrinter;
  /** Merge data for strategic patches; undefined where they are 415. */
  readonly patchType?: string;
  /** openAPIV3Schema of a custom resource's version. */
  readonly schema?: JsonObject;
  /** Warning headers of every answer: this version is deprecated. */
  readonly warnings?: readonly string[];
  /** Every request is refused with this: the version needs something that the server does not have. */
  readonly unservable?: () => ApiError;
}

/** An object as it would be read again after it was stored. */
export const throughStorage = (codec: Codec, object: KubeObject): KubeObject =>
  codec.show(new Stored('', 0, NO_BYTES, codec.toStorage(object)));

const NO_BYTES = new Uint8Array();

/** What refusals of an object's content call its kind. */
export const refusedKind = (resource: Resource) => resource.refusedAs ?? resource;

export const storageName = (group: string, plural: string) => (group === '' ? plural : `${plural}.${group}`);

/** Key of an object inside its table. */
export const keyOf = (namespace: string | undefined, name: string) =>
  namespace ? `${namespace}/${name}` : name;

export const specOf = (object: KubeObject): JsonObject => (object['spec'] as JsonObject | undefined) ?? {};
export const statusOf = (object: KubeObject): JsonObject =>
  (object['status'] as JsonObject | undefined) ?? {};
