// The rights of every family, on a real API server with RBAC. test/conformance/rbac.kube.ts runs the same on the
// embedded one.

import { readFileSync } from 'node:fs';
import { startBed } from './bed/bed.ts';
import { type Audited, describeFamilies } from './rbac/families.ts';

/** Every answered request of a user. */
const audited = (file: string, user: string): Audited[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"stage":"ResponseComplete"') && line.includes(JSON.stringify(user)))
    .map((line) => JSON.parse(line))
    .map(({ verb, objectRef = {}, responseStatus = {} }) => ({
      verb,
      resource: [objectRef.resource, objectRef.subresource].filter(Boolean).join('/'),
      code: responseStatus.code,
    }));

describeFamilies(async () => {
  const bed = await startBed({ auditLog: true });
  const { url, adminToken, directory } = bed;
  return {
    url,
    adminToken,
    directory,
    ca: readFileSync(bed.caFile, 'utf8'),
    audited: (user) => audited(bed.auditLogFile!, user),
    close: () => bed.stop(),
  };
});
