import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { buildReadApi } from './apiService.ts';

test('config/read-api matches the generated manifests of the default installation', () => {
  const file = join(import.meta.dirname, '../../../../../config/read-api/read-api.yaml');
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map((one) =>
    (one as { toJS(): unknown }).toJS(),
  );
  const selector = { 'app.kubernetes.io/name': 'lapse', 'app.kubernetes.io/instance': 'lapse' };
  expect(documents).toEqual(
    buildReadApi({ name: 'lapse', namespace: 'lapse-system', selector, targetPort: 9444 }),
  );
});
