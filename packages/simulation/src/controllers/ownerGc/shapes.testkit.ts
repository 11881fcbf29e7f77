// Graphs by name, what is deleted, and what must be left: a specification for the stand-in and for a real cluster.

import type { Graph } from './graphs.testkit.ts';

export interface Shape extends Graph {
  readonly left: readonly string[];
}

const shape = (objects: string, deletes: string, left: string): Shape => ({
  objects: words(objects),
  deletes: words(deletes),
  left: words(left).sort(),
});
const words = (text: string): string[] =>
  text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);

export const SHAPES: Readonly<Record<string, Shape>> = {
  'nothing is deleted, nothing goes': shape('a; b<a; c<b', '', 'a; b<a; c<b'),
  'a chain goes with its head': shape('a; b<a; c<b; d<c', 'a', ''),
  'the head stays when the tail is deleted': shape('a; b<a; c<b', 'c', 'a; b<a'),
  'a diamond goes when its top goes': shape('a; b<a; c<a; d<b,c', 'a', ''),
  'a diamond loses one side': shape('a; b<a; c<a; d<b,c', 'b', 'a; c<a; d<c'),
  'a diamond loses both sides': shape('a; b<a; c<a; d<b,c', 'b; c', 'a'),
  'a second owner keeps it, and the first is struck': shape('a; b; c<a,b', 'a', 'b; c<b'),
  'two owners gone, it goes': shape('a; b; c<a,b', 'a; b', ''),
  'a circle of two goes with either': shape('a<b; b<a', 'a', ''),
  'a circle nobody deletes stays': shape('a<b; b<a', '', 'a<b; b<a'),
  'a blocking circle in the foreground goes': shape('a<b!; b<a!', 'a:Foreground', ''),
  'a blocking circle of three in the foreground goes': shape('a<c!; b<a!; c<b!', 'a:Foreground', ''),
  'an object that owns itself goes in the background': shape('a<a', 'a', ''),
  'an owner that never was: it goes': shape('a<ghost', '', ''),
  'all owners absent: it goes': shape('a<ghost,spirit', '', ''),
  'one owner absent: it is struck': shape('a; b<a,ghost', '', 'a; b<a'),
  'the right name with another uid is absent': shape('a; b<~a', '', 'a'),
  'another name under the right uid is absent': shape('a; b<a=z', '', 'a'),
  'another kind under the right uid is absent': shape('a; b<a@Secret', '', 'a'),
  'a kind that nobody serves is unknown: nothing is done': shape('a; b<a@Nonsense', 'a', 'b<a'),
  'a version that nobody serves is unknown: nothing is done': shape('a; b<a@v9', '', 'a; b<a'),
  'an unknown owner also saves what absent owners would not': shape(
    'a; b<ghost,a@Nonsense',
    '',
    'a; b<~ghost,a',
  ),
  'an owner in another namespace is absent': shape('a; other/b<a', '', 'a'),
  'an owner in another namespace is struck': shape('a; other/b; other/c<a,b', '', 'a; other/b; other/c<b'),
  'orphans stay, unowned': shape('a; b<a; c<a!; d<b', 'a:Orphan', 'b; c; d<b'),
  'an orphan keeps its other owner': shape('a; b; c<a,b', 'a:Orphan', 'b; c<b'),
  'orphaning waits for nothing but its finalizer': shape(
    'a [x.dev/hold]; b<a',
    'a:Orphan',
    'a [x.dev/hold] ending; b',
  ),
  'the foreground without dependents': shape('a', 'a:Foreground', ''),
  'the foreground takes all, blocking or not': shape('a; b<a!; c<a; d<b!', 'a:Foreground', ''),
  'a blocking dependent with a finalizer holds its owner': shape(
    'a; b<a! [x.dev/hold]',
    'a:Foreground',
    'a [foregroundDeletion] ending; b<a! [x.dev/hold] ending',
  ),
  'a dependent with a finalizer that does not block holds nobody': shape(
    'a; b<a [x.dev/hold]',
    'a:Foreground',
    'b<a [x.dev/hold] ending',
  ),
  'a finalizer two generations below holds the chain': shape(
    'a; b<a!; c<b! [x.dev/hold]',
    'a:Foreground',
    'a [foregroundDeletion] ending; b<a! [foregroundDeletion] ending; c<b! [x.dev/hold] ending',
  ),
  'a blocking dependent with another owner lets go': shape('a; b; c<a!,b', 'a:Foreground', 'b; c<b'),
  'mixed blocking in a diamond': shape(
    'a; b<a!; c<a; d<b!,c [x.dev/hold]',
    'a:Foreground',
    'a [foregroundDeletion] ending; b<a! [foregroundDeletion] ending; d<b!,c [x.dev/hold] ending',
  ),
  'an owner with a finalizer still owns': shape('a [x.dev/hold]; b<a', 'a', 'a [x.dev/hold] ending; b<a'),
  'an owner with a finalizer in the foreground loses its dependents first': shape(
    'a [x.dev/hold]; b<a!',
    'a:Foreground',
    'a [x.dev/hold] ending',
  ),
  'the orphan finalizer set beforehand is honoured': shape('a; b<a [orphan]; c<b', 'a', 'c'),
  'the foreground finalizer set beforehand is honoured': shape(
    'a; b<a [foregroundDeletion]; c<b! [x.dev/hold]',
    'a',
    'b<a [foregroundDeletion] ending; c<b! [x.dev/hold] ending',
  ),
  'a blocking dependent in another namespace goes by itself': shape('a; other/b<a!', 'a:Foreground', ''),
  'custom kinds own and are owned': shape('widget:a; b<a; widget:c<b', 'a', ''),
  'custom kinds in the foreground': shape(
    'widget:a; widget:b<a! [x.dev/hold]; c<a!',
    'a:Foreground',
    'widget:a [foregroundDeletion] ending; widget:b<a! [x.dev/hold] ending',
  ),
  'custom kinds are orphaned': shape('widget:a; widget:b<a; secret:c<a', 'a:Orphan', 'widget:b; secret:c'),
  'a cluster-scoped owner owns in every namespace': shape('gadget:a; b<a; other/c<a; gadget:d<a', 'a', ''),
  'a cluster-scoped object cannot have an owner in a namespace': shape('a; gadget:b<a', 'a', 'gadget:b<a'),
  'a cluster-scoped object whose only owner is in a namespace stays': shape(
    'widget:a; gadget:b<a',
    '',
    'widget:a; gadget:b<a',
  ),
  'secrets and config maps in one chain': shape('secret:a; b<a; secret:c<b', 'a', ''),
};
