import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { managersOfScale, managersOfScaled, type ReplicasPaths } from './scaleManagers.ts';

const PATHS: ReplicasPaths = new Map([
  ['g/v1', ['f:spec', 'f:size']],
  ['g/v2', undefined],
]);
const TIME = '2024-01-01T00:00:00Z';
const entry = (manager: string, more: JsonObject, fieldsV1: JsonObject): JsonObject => ({
  manager,
  operation: 'Update',
  apiVersion: 'g/v1',
  time: TIME,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});
const SIZE = { 'f:spec': { 'f:size': {} } };
const NOTE = { 'f:spec': { 'f:note': {} } };
const BOTH = { 'f:spec': { 'f:note': {}, 'f:size': {} } };
const IN_SCALE = { 'f:spec': { 'f:replicas': {} } };
const SCALE = { apiVersion: 'autoscaling/v1' };
const untimed = ({ time: _, ...rest }: JsonObject): JsonObject => rest;

describe('managers of a Scale', () => {
  test.each<[string, JsonObject[], JsonObject[] | undefined]>([
    ['the owner of the replicas', [entry('a', {}, BOTH)], [entry('a', SCALE, IN_SCALE)]],
    ['not an owner of other fields', [entry('a', {}, NOTE)], undefined],
    ['not a manager of a version without a scale', [entry('a', { apiVersion: 'g/v2' }, SIZE)], undefined],
    ['not a manager of a version that is not served', [entry('a', { apiVersion: 'g/v9' }, SIZE)], undefined],
  ])('%s', (_, entries, expected) => {
    expect(managersOfScale(entries, PATHS)).toEqual(expected);
  });
});

describe('managers of an object whose Scale was written', () => {
  const applied = { operation: 'Apply' };
  const through = { ...SCALE, subresource: 'scale' };
  test.each<[string, JsonObject[], JsonObject[], JsonObject[] | undefined]>([
    [
      'the writer takes the replicas from the previous owner',
      [entry('a', {}, BOTH)],
      [entry('b', through, IN_SCALE)],
      [untimed(entry('b', { subresource: 'scale' }, SIZE)), entry('a', {}, NOTE)],
    ],
    [
      'an updater that keeps them gets its own entry without a time',
      [entry('a', {}, BOTH)],
      [entry('a', SCALE, IN_SCALE)],
      [untimed(entry('a', {}, SIZE)), entry('a', {}, NOTE)],
    ],
    [
      'an applier that keeps them keeps its entry',
      [entry('a', applied, BOTH)],
      [entry('a', { ...applied, ...SCALE }, IN_SCALE)],
      [entry('a', applied, BOTH)],
    ],
    [
      'a manager without other fields is removed',
      [entry('a', {}, SIZE)],
      [entry('b', through, IN_SCALE)],
      [untimed(entry('b', { subresource: 'scale' }, SIZE))],
    ],
    [
      'other fields of the Scale have no owner',
      [entry('a', {}, NOTE)],
      [entry('b', through, { 'f:status': { 'f:replicas': {} } })],
      [entry('a', {}, NOTE)],
    ],
    [
      'managers of versions that are not served are removed',
      [entry('a', { apiVersion: 'g/v9' }, NOTE), entry('a', { apiVersion: 'g/v2' }, SIZE)],
      [],
      [entry('a', { apiVersion: 'g/v2' }, SIZE)],
    ],
  ])('%s', (_, before, scale, expected) => {
    expect(managersOfScaled({ before, scale, apiVersion: 'g/v1' }, PATHS)).toEqual(expected);
  });
});
