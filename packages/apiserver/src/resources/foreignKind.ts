// A body that says it is of another kind than the resource, and is not even what every object is.

import { ApiError } from '@lapse/kube/api/status';

/** 400 in the words for bodies; patches have words of their own around `why`. */
export class ForeignKind extends ApiError {
  readonly why: string;

  constructor(said: string, { version, kind }: { version: string; kind: string }, why: string) {
    super(400, 'BadRequest', `${said} in version "${version}" cannot be handled as a ${kind}: ${why}`);
    this.why = why;
  }
}
