// The error for a body that cannot be decoded. The message is that of the Kubernetes decoder; the server adds the
// prefix `<Kind> in version "v1" cannot be handled as a <Kind>: `.

export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** Upstream stops collecting unknown and duplicate fields at this number. */
export const MAX_STRICT_ERRORS = 100;
