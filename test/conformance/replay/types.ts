// The format of a recorded case, as stored in fixtures/wire. README.md explains it with an example.

import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { Json } from '@lapse/kube/api/json';

export interface WireFile {
  readonly topic: string;
  readonly about: string;
  readonly cases: readonly WireCase[];
  /** Compare metadata.managedFields too (sorted by manager, operation and subresource). */
  readonly managedFields?: boolean;
  readonly dropDescriptions?: boolean;
}

export interface WireCase {
  readonly name: string;
  /** What kubectl, informers and controllers use most. */
  readonly core?: boolean;
  /** Whether the runner creates `{{ns}}` first. Default: if a path contains it. */
  readonly namespace?: boolean;
  readonly managedFields?: boolean;
  readonly dropDescriptions?: boolean;
  readonly steps: readonly Step[];
  /** Run at the end, whatever happened; never compared. */
  readonly cleanup?: readonly Step[];
}

export interface Step {
  readonly do: Action;
  readonly expect?: Expectation;
  /** Variable → dotted path into the answer, `header:NAME` or `events.0.object.…`. */
  readonly capture?: Readonly<Record<string, string>>;
  readonly keepManagedFields?: boolean;
  readonly dropDescriptions?: boolean;
}

export type Identity = 'admin' | 'nobody' | 'anonymous' | 'stranger';

interface Sent {
  readonly as?: Identity;
  /** `null` removes a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: Json;
  readonly rawBody?: string;
  readonly rawBase64?: string;
}

export interface RequestAction extends Sent {
  readonly method: string;
  readonly path: string;
  readonly poll?: { readonly status?: number; readonly match?: Json; readonly seconds?: number };
}

export interface WatchAction extends Sent {
  readonly watch: string;
  /** Stop after this many events. */
  readonly until?: number;
  /** Listen at most this long (default 15). */
  readonly timeoutSeconds?: number;
  readonly while?: readonly Step[];
}

export interface SleepAction {
  readonly sleep: number;
}

export interface CompactAction {
  readonly compact: true;
}

export type Action = RequestAction | WatchAction | SleepAction | CompactAction;

export interface Expectation {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, Json>>;
  readonly anyWarning?: boolean;
  /** The whole body. */
  readonly body?: Json;
  /** Fields that must exist; others are allowed. */
  readonly match?: Json;
  readonly events?: readonly ExpectedEvent[];
  readonly closedBy?: ClosedBy;
}

export interface ExpectedEvent {
  readonly type: string;
  readonly match?: Json;
}

export type ClosedBy = 'server' | 'client';
export type Vars = Record<string, string>;

/** A server to replay against, however it is reached. */
export interface Target {
  readonly name: string;
  request(request: HttpRequest): Promise<HttpResponse>;
  /** User `admin` in group `system:masters`. Without it the server has no authentication. */
  readonly adminToken?: string;
  /** User `nobody`, who has no rights. */
  readonly nobodyToken?: string;
  /** Compacts the history of the server's objects. */
  compact?(): Promise<void>;
  close?(): Promise<void>;
}

/** An answer with its body decoded; `events` and `closedBy` only after a watch that was answered 200. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, Json>>;
  readonly body: Json | undefined;
  readonly events?: readonly WatchedEvent[];
  readonly closedBy?: ClosedBy;
}

export interface WatchedEvent {
  readonly type: string;
  readonly object: Json | undefined;
}

/** The server's answer differs from the recording. */
export class Difference extends Error {}

export type CaseResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly difference: string }
  | { readonly kind: 'skipped'; readonly why: string };

export const titleOf = (file: WireFile, wireCase: WireCase): string => `${file.topic} / ${wireCase.name}`;
