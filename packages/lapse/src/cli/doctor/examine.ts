// All examinations, most important first. A failed examination is reported and does not prevent the others.

import { TransportError } from '@lapse/kube/client/transport';
import { asError } from '@lapse/runtime/outcome';
import { computeRefusal } from '../failures.ts';
import type { DoctorContext, Examination, Finding } from './finding.ts';
import { examineKinds } from './kinds.ts';
import { examineObjects } from './objects.ts';
import { examineCleaners, examineLeases, examineTtlController } from './others.ts';
import { examineClock, examineServer } from './reach.ts';
import { examineRights } from './rights.ts';
import { examineStorage } from './storage.ts';
import { examineWebhooks } from './webhooks.ts';

const EXAMINATIONS: readonly (readonly [name: string, examine: Examination])[] = [
  ['clock', examineClock],
  ['rights', examineRights],
  ['kinds', examineKinds],
  ['others', examineTtlController],
  ['others', examineLeases],
  ['others', examineCleaners],
  ['storage', examineStorage],
  ['webhook', examineWebhooks],
  ['objects', examineObjects],
];

/** Without a connection there are no other findings. */
export async function examine(doctorContext: DoctorContext): Promise<Finding[]> {
  const findings = await attempt('server', examineServer, doctorContext);
  if (findings.some(({ level }) => level === 'problem')) return findings;
  for (const [name, examination] of EXAMINATIONS)
    findings.push(...(await attempt(name, examination, doctorContext)));
  return findings;
}

async function attempt(
  check: string,
  examination: Examination,
  doctorContext: DoctorContext,
): Promise<Finding[]> {
  try {
    return await examination(doctorContext);
  } catch (cause) {
    const { what, next } = computeRefusal(cause) ?? { what: asError(cause).message };
    const about = cause instanceof TransportError ? 'connection' : 'examination';
    return [{ check, level: 'problem', about, message: what, ...(next === undefined ? {} : { hint: next }) }];
  }
}
