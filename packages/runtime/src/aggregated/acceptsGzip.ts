// Whether a client accepts gzip.

/** Whether an Accept-Encoding header allows gzip. `gzip;q=0` does not. */
export function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((part) => {
      const [coding = '', ...parameters] = part.toLowerCase().replaceAll(' ', '').split(';');
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [coding, q === undefined ? 1 : Number(q)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
