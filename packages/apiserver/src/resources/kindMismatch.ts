// The error for a body that has another kind than the resource and is not even a valid object.

import { ApiError } from '@lapse/kube/api/status';

/** 400 with the message for request bodies; patches wrap `why` in their own message. */
export class KindMismatch extends ApiError {
  readonly why: string;

  constructor(sentKind: string, { version, kind }: { version: string; kind: string }, why: string) {
    super(400, 'BadRequest', `${sentKind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
    this.why = why;
  }
}
