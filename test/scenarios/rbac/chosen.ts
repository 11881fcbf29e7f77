// Plays with another configuration than the usual one, in which families need what a choice adds to their rights.

import { minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { choicesOf, ITEM } from 'lapse/cli/manifests/choices';
import type { Family } from 'lapse/controllers/family';
import type { Rule } from 'lapse/manager/rbac';
import { expect } from 'vitest';
import { configMap } from '../manifest/kit.ts';
import { expectGone, type Play } from './play.ts';
import { keeperOf, manifestCapture, volumeCapture, volumeRestore } from './requests.ts';

/** Requests end by their own annotation, a minute after they have ended. */
const byAnnotation = (play: Play, request: string): Play => ({
  ...play,
  configuration: { requestTTL: { mode: 'annotation', ttl: '1m' } },
  async act(world) {
    await play.act(world);
    expect(await world.hands.get(request)).toBeDefined();
    await world.timePasses(minutes(3));
    await expectGone(world, request);
  },
});

const FOLLOWED = 'configmaps';

/** A keeper follows what an operator says it may. */
const following: Play = {
  configuration: { objectKeeper: { follow: [FOLLOWED] } },
  async act(world) {
    await world.start();
    const map = configMap('followed');
    await world.apply(map);
    await world.apply(await keeperOf(world, map));
    await world.timePasses(seconds(5));
    await world.hands.delete('configmap/followed');
    await world.timePasses(seconds(30));
    await expectGone(world, 'objectkeeper/followed');
  },
};

/** By family: what it plays when somebody has chosen. */
export const CHOSEN: Readonly<Record<string, Play>> = {
  'volume-capture': byAnnotation(volumeCapture, 'volumecapturerequest/nightly'),
  'volume-restore': byAnnotation(volumeRestore, 'volumerestorerequest/back'),
  'manifest-capture': byAnnotation(manifestCapture, 'manifestcapturerequest/before'),
  'object-keeper': following,
};

/** What the chart adds to the rules of a family for the choices of its play. */
export function chosenRules(family: Family, known: readonly Family[]): Rule[] {
  const named = (rule: Rule): Rule =>
    rule.resources[0] === ITEM ? { ...rule, resources: [FOLLOWED] } : rule;
  return choicesOf(family, known).flatMap(({ rules }) => rules.map(named));
}

/** The roles with these rules in a role of their own. */
export const withChosen = (access: readonly KubeObject[], rules: readonly Rule[]): KubeObject[] => {
  const ours = access.filter(({ metadata }) => metadata.name === 'lapse:process');
  const copies = ours.map((object) => {
    const copy = structuredClone(object) as KubeObject & { roleRef?: { name: string }; rules?: unknown };
    copy.metadata = { ...copy.metadata, name: 'lapse:chosen' };
    if (copy.roleRef !== undefined) copy.roleRef.name = 'lapse:chosen';
    else copy.rules = rules;
    return copy;
  });
  return [...access, ...copies];
};
