// The result of parsing a body, in JSON or YAML.

import type { Json } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';

export interface ParsedBody {
  readonly value: Json;
  /** Strict validation errors about the text itself: `duplicate field "spec.foo"`. */
  readonly problems: readonly string[];
  readonly notes?: JsonNotes;
}

/** A syntax error with the message of kube-apiserver. */
export class BodyError extends Error {}
