// Errors of strategic merge patches. Most are errors of the client, but upstream responds with 500.

/** `malformed`: 400. `unprocessable`: the bare 422. `internal`: 500 with the text. */
export class StrategicMergeError extends Error {
  readonly kind: 'malformed' | 'unprocessable' | 'internal';
  constructor(message: string, kind: StrategicMergeError['kind'] = 'internal') {
    super(message);
    this.name = 'StrategicMergeError';
    this.kind = kind;
  }
}

export const MALFORMED = {
  deleteFrom: 'invalid patch format of primitive list',
  retainKeys: 'invalid patch format of retainKeys',
  setOrder: 'invalid patch format of setElementOrder list',
};

export const badArgument = (expected: string, actual: string): StrategicMergeError =>
  new StrategicMergeError(`expected a ${expected}, but received a ${actual}`);
