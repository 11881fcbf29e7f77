// The script of the week that `--speed` runs: what exists from the start, and what is applied when. Pure: the same
// examples, start and seed give the same week.

import { hours, type Instant, instant, millis } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { readManifests } from '@lapse/simulation/userClient';
import type { Example } from '../examples.ts';
import { type Moment, ROLES, type Role } from './roles.ts';

export interface Act {
  readonly at: Instant;
  /** For example `01-job-ttl`. */
  readonly example: string;
  /** Applied in this order. */
  readonly objects: readonly KubeObject[];
}

export interface Script {
  readonly start: Instant;
  readonly end: Instant;
  readonly opening: readonly Act[];
  /** In the order of time. */
  readonly acts: readonly Act[];
}

export const DAYS = 7;
const DAY = hours(24);
/** Maximum random delay after the hour, in minutes. */
const SPREAD = 50;

interface Document {
  readonly example: string;
  readonly who: string;
  readonly object: KubeObject;
}

export function writeScript(
  examples: readonly Example[],
  start: Instant,
  random: Pick<Random, 'next'>,
): Script {
  const documents = examples.flatMap(documentsOf);
  const opening = documents
    .filter(
      (document) => !ROLES.some((role) => role.hour !== undefined && !role.again && plays(role, document)),
    )
    .map((document): Act => {
      const role = ROLES.find((one) => one.hour === undefined && plays(one, document));
      return {
        at: start,
        example: document.example,
        objects: [dressed(document, role, { day: 1, at: start, start })],
      };
    });
  const acts = ROLES.filter(({ hour }) => hour !== undefined)
    .flatMap((role) => actsOf(role, documents, start, random))
    .sort((a, b) => a.at - b.at);
  return { start, end: instant(start + DAYS * DAY), opening, acts };
}

function actsOf(
  role: Role,
  documents: readonly Document[],
  start: Instant,
  random: Pick<Random, 'next'>,
): Act[] {
  const own = documents.filter((document) => plays(role, document));
  const days = role.days ?? Array.from({ length: DAYS }, (_, i) => i + 1);
  return days.flatMap((day): Act[] => {
    const late = millis(Math.floor(random.next() * SPREAD) * 60_000);
    const at = instant(start + (day - 1) * DAY + hours(role.hour!) + late);
    const objects = own.map((document) => dressed(document, role, { day, at, start }));
    return own.length === 0 ? [] : [{ at, example: own[0]!.example, objects }];
  });
}

const documentsOf = ({ name, text }: Example): Document[] =>
  readManifests(text).map((object) => ({
    example: name.split('/')[0]!,
    who: `${object.kind}/${object.metadata.name}`,
    object,
  }));

const plays = ({ example, who }: Role, document: Document): boolean =>
  document.example === example && who.includes(document.who);

function dressed({ object, who }: Document, role: Role | undefined, moment: Moment): KubeObject {
  const { stem, as } = role ?? {};
  const named = stem === undefined ? object : renamed(object, stem, `${stem}-${moment.day}`);
  return mergeOverlay(named, as?.(moment, who) ?? {});
}

/** Renames everywhere: in the name, in references and in labels. */
function renamed(object: KubeObject, stem: string, name: string): KubeObject {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return rename(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]));
  };
  const rename = (text: string): string =>
    text === stem || text.startsWith(`${stem}-`) ? `${name}${text.slice(stem.length)}` : text;
  return walk(object) as KubeObject;
}

/** Keeps nulls: in an apply they remove fields. */
function mergeOverlay(object: KubeObject, overlay: object): KubeObject {
  const merge = (base: unknown, over: unknown): unknown => {
    if (!isPlain(over) || !isPlain(base)) return over;
    return { ...base, ...Object.fromEntries(Object.entries(over).map(([k, v]) => [k, merge(base[k], v)])) };
  };
  return merge(object, overlay) as KubeObject;
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
