// Plays with a configuration other than the default, in which families need the rights that an option adds.

import { minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { choicesOf, ITEM } from 'lapse/cli/manifests/choices';
import type { Family } from 'lapse/controllers/family';
import type { Rule } from 'lapse/manager/rbac';
import { expect } from 'vitest';
import { configMap } from '../manifest/kit.ts';
import { expectGone, type Play } from './play.ts';
import { keeperOf, manifestCapture, volumeCapture, volumeRestore } from './requests.ts';

/** Requests expire by their own annotation, one minute after they have completed. */
const byAnnotation = (play: Play, request: string): Play => ({
  ...play,
  configuration: { requestTTL: { mode: 'annotation', ttl: '1m' } },
  async act(world) {
    await play.act(world);
    expect(await world.userClient.get(request)).toBeDefined();
    await world.timePasses(minutes(3));
    await expectGone(world, request);
  },
});

const FOLLOWED = 'configmaps';

/** A keeper follows a kind that the operator allows. */
const following: Play = {
  configuration: { objectKeeper: { follow: [FOLLOWED] } },
  async act(world) {
    await world.start();
    const map = configMap('followed');
    await world.apply(map);
    await world.apply(await keeperOf(world, map));
    await world.timePasses(seconds(5));
    await world.userClient.delete('configmap/followed');
    await world.timePasses(seconds(30));
    await expectGone(world, 'objectkeeper/followed');
  },
};

/** By family: the play with the option. */
export const CHOSEN: Readonly<Record<string, Play>> = {
  'volume-capture': byAnnotation(volumeCapture, 'volumecapturerequest/nightly'),
  'volume-restore': byAnnotation(volumeRestore, 'volumerestorerequest/back'),
  'manifest-capture': byAnnotation(manifestCapture, 'manifestcapturerequest/before'),
  'object-keeper': following,
};

/** Rules that the chart adds to those of a family for the options of its play. */
export function chosenRules(family: Family, known: readonly Family[]): Rule[] {
  const named = (rule: Rule): Rule =>
    rule.resources[0] === ITEM ? { ...rule, resources: [FOLLOWED] } : rule;
  return choicesOf(family, known).flatMap(({ rules }) => rules.map(named));
}

/** The roles, with these rules in an additional role. */
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
