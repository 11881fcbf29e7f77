// Finished Jobs and the controller that deletes them, in its usual configuration.

import { type Instant, parseTime, plus, seconds } from '@lapse/base/instant';
import { Job } from '@lapse/kube/api/kinds/builtin';
import { composeFamilies, findFamily } from '../scenarios/compose.ts';
import { finishedJob } from '../scenarios/kit.ts';
import type { Subject } from './subject.ts';

const finishOf = ({ status }: Job): Instant | undefined => {
  const end = status?.conditions?.find(({ type, status: is }) => type === 'Complete' && is === 'True');
  return end?.lastTransitionTime === undefined ? undefined : parseTime(end.lastTransitionTime);
};

const wholeSeconds = (from: Instant, to: Instant): number => Math.max(0, Math.ceil((to - from) / 1000));

export const jobs: Subject = {
  name: 'ttl-after-finished',
  kind: Job,
  resource: 'jobs',
  compose: composeFamilies({
    families: [findFamily('ttl-after-finished')],
    controllers: [],
    // Without a garbage collector, foreground deletions would never complete.
    configuration: { ttlAfterFinished: { jobPropagation: 'Background' } },
    gates: {},
  }),
  create: (name, ends, now) => finishedJob(name, { finishedAt: now, ttl: seconds(wholeSeconds(now, ends)) }),
  moveEnd: (object, ends) => ({
    spec: { ttlSecondsAfterFinished: wholeSeconds(finishOf(object as Job) ?? ends, ends) },
  }),
  deadlineOf: (object) => {
    const finish = finishOf(object as Job);
    const ttl = (object as Job).spec?.ttlSecondsAfterFinished;
    return finish === undefined || ttl === undefined ? undefined : plus(finish, seconds(ttl));
  },
  isTerminal: (object) => finishOf(object as Job) !== undefined,
};
