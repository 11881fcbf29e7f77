import { Registry } from '@lapse/runtime/metrics/registry';
import { expect, test } from 'vitest';
import { readGeneral } from './configuration/general.ts';
import { loadConfiguration } from './configuration/load.ts';
import { recordLeadership } from './recordLeadership.ts';

const general = (flags: Record<string, string>) =>
  readGeneral(loadConfiguration([], { flags: { 'leader-elect': 'false', ...flags }, environment: {} }));

const STATUS = /^leader_election_master_status.*$/m;

test.each([
  ['without leader election it leads', {}, undefined, 'leader_election_master_status{name="lapse"} 1'],
  [
    'under the configured lease name',
    { 'leader-elect-resource-name': 'mine' },
    undefined,
    'leader_election_master_status{name="mine"} 1',
  ],
  ['with leader election the elector reports it', {}, { namespace: 'a', name: 'lapse' }, undefined],
])('%s', (_, flags, lease, line) => {
  const registry = new Registry();
  recordLeadership(registry, lease, general(flags));
  expect(STATUS.exec(registry.text())?.[0]).toBe(line);
});
