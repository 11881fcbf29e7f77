// Why a body is not the object it claims to be. The message is what the Kubernetes decoder would say; the server puts
// `<Kind> in version "v1" cannot be handled as a <Kind>: ` in front of it.

export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** Upstream stops collecting unknown and duplicate fields here. */
export const MAX_STRICT_ERRORS = 100;
