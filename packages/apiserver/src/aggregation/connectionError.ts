// Connection errors with the messages of kube-apiserver, which are Go's.

const VERIFICATION = 'tls: failed to verify certificate: x509: ';

type FormatError = (
  cause: NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string },
) => string;

const MESSAGES: Readonly<Record<string, FormatError>> = {
  ECONNREFUSED: ({ address, port }) => `dial tcp ${address}:${port}: connect: connection refused`,
  ENOTFOUND: ({ hostname }) => `dial tcp: lookup ${hostname}: no such host`,
  ECONNRESET: () => 'EOF',
  ETIMEDOUT: ({ address, port }) => `dial tcp ${address}:${port}: i/o timeout`,
  DEPTH_ZERO_SELF_SIGNED_CERT: () => `${VERIFICATION}certificate signed by unknown authority`,
  SELF_SIGNED_CERT_IN_CHAIN: () => `${VERIFICATION}certificate signed by unknown authority`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => `${VERIFICATION}certificate signed by unknown authority`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => `${VERIFICATION}certificate signed by unknown authority`,
  CERT_HAS_EXPIRED: () => `${VERIFICATION}certificate has expired or is not yet valid`,
};

/** With several addresses, the error of the last one. */
export function describeConnectionError(cause: unknown): string {
  const error = cause instanceof AggregateError ? cause.errors.at(-1) : cause;
  if (!(error instanceof Error)) return String(error);
  const { code = '' } = error as NodeJS.ErrnoException;
  return (Object.hasOwn(MESSAGES, code) ? MESSAGES[code] : undefined)?.(error) ?? error.message;
}
