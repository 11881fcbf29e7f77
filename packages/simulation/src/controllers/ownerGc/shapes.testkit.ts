// Named graphs, the deletions, and the objects that must remain: the specification of garbage collection, for the
// simulated garbage collector and for a real cluster.

import type { Graph } from './graphs.testkit.ts';

export interface Shape extends Graph {
  readonly left: readonly string[];
}

const shape = (objects: string, deletes: string, left: string): Shape => ({
  objects: splitLines(objects),
  deletes: splitLines(deletes),
  left: splitLines(left).sort(),
});
const splitLines = (text: string): string[] =>
  text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);

export const SHAPES: Readonly<Record<string, Shape>> = {
  'keeps everything if nothing is deleted': shape('a; b<a; c<b', '', 'a; b<a; c<b'),
  'deletes a chain with its head': shape('a; b<a; c<b; d<c', 'a', ''),
  'keeps the head when the tail is deleted': shape('a; b<a; c<b', 'c', 'a; b<a'),
  'deletes a diamond with its top': shape('a; b<a; c<a; d<b,c', 'a', ''),
  'keeps the bottom of a diamond when one side is deleted': shape('a; b<a; c<a; d<b,c', 'b', 'a; c<a; d<c'),
  'deletes the bottom of a diamond when both sides are deleted': shape('a; b<a; c<a; d<b,c', 'b; c', 'a'),
  'keeps an object with a second owner and removes the first reference': shape('a; b; c<a,b', 'a', 'b; c<b'),
  'deletes an object when both owners are deleted': shape('a; b; c<a,b', 'a; b', ''),
  'deletes a cycle of two when either is deleted': shape('a<b; b<a', 'a', ''),
  'keeps a cycle that is not deleted': shape('a<b; b<a', '', 'a<b; b<a'),
  'deletes a blocking cycle in the foreground': shape('a<b!; b<a!', 'a:Foreground', ''),
  'deletes a blocking cycle of three in the foreground': shape('a<c!; b<a!; c<b!', 'a:Foreground', ''),
  'deletes an object that owns itself in the background': shape('a<a', 'a', ''),
  'deletes an object whose owner never existed': shape('a<ghost', '', ''),
  'deletes an object whose owners are all absent': shape('a<ghost,spirit', '', ''),
  'removes the reference to one absent owner': shape('a; b<a,ghost', '', 'a; b<a'),
  'treats an owner with another uid as absent': shape('a; b<~a', '', 'a'),
  'treats an owner with another name as absent': shape('a; b<a=z', '', 'a'),
  'treats an owner of another kind as absent': shape('a; b<a@Secret', '', 'a'),
  'does nothing if the kind of the owner is not served': shape('a; b<a@Nonsense', 'a', 'b<a'),
  'does nothing if the version of the owner is not served': shape('a; b<a@v9', '', 'a; b<a'),
  'keeps an object with an absent and an unknown owner': shape('a; b<ghost,a@Nonsense', '', 'a; b<~ghost,a'),
  'treats an owner in another namespace as absent': shape('a; other/b<a', '', 'a'),
  'removes the reference to an owner in another namespace': shape(
    'a; other/b; other/c<a,b',
    '',
    'a; other/b; other/c<b',
  ),
  'keeps orphans without the reference': shape('a; b<a; c<a!; d<b', 'a:Orphan', 'b; c; d<b'),
  'keeps the other owner of an orphan': shape('a; b; c<a,b', 'a:Orphan', 'b; c<b'),
  'orphans dependents while another finalizer holds the owner': shape(
    'a [x.dev/hold]; b<a',
    'a:Orphan',
    'a [x.dev/hold] ending; b',
  ),
  'deletes an object without dependents in the foreground': shape('a', 'a:Foreground', ''),
  'deletes blocking and non-blocking dependents in the foreground': shape(
    'a; b<a!; c<a; d<b!',
    'a:Foreground',
    '',
  ),
  'keeps the owner while a finalizer holds a blocking dependent': shape(
    'a; b<a! [x.dev/hold]',
    'a:Foreground',
    'a [foregroundDeletion] ending; b<a! [x.dev/hold] ending',
  ),
  'deletes the owner while a finalizer holds a non-blocking dependent': shape(
    'a; b<a [x.dev/hold]',
    'a:Foreground',
    'b<a [x.dev/hold] ending',
  ),
  'keeps the chain while a finalizer holds a dependent two generations below': shape(
    'a; b<a!; c<b! [x.dev/hold]',
    'a:Foreground',
    'a [foregroundDeletion] ending; b<a! [foregroundDeletion] ending; c<b! [x.dev/hold] ending',
  ),
  'releases a blocking dependent that has another owner': shape('a; b; c<a!,b', 'a:Foreground', 'b; c<b'),
  'handles a diamond with blocking and non-blocking references': shape(
    'a; b<a!; c<a; d<b!,c [x.dev/hold]',
    'a:Foreground',
    'a [foregroundDeletion] ending; b<a! [foregroundDeletion] ending; d<b!,c [x.dev/hold] ending',
  ),
  'keeps dependents while a finalizer holds the owner': shape(
    'a [x.dev/hold]; b<a',
    'a',
    'a [x.dev/hold] ending; b<a',
  ),
  'deletes dependents in the foreground while a finalizer holds the owner': shape(
    'a [x.dev/hold]; b<a!',
    'a:Foreground',
    'a [x.dev/hold] ending',
  ),
  'honors an orphan finalizer that was set before the deletion': shape('a; b<a [orphan]; c<b', 'a', 'c'),
  'honors a foreground finalizer that was set before the deletion': shape(
    'a; b<a [foregroundDeletion]; c<b! [x.dev/hold]',
    'a',
    'b<a [foregroundDeletion] ending; c<b! [x.dev/hold] ending',
  ),
  'deletes a blocking dependent in another namespace': shape('a; other/b<a!', 'a:Foreground', ''),
  'collects custom objects as owners and dependents': shape('widget:a; b<a; widget:c<b', 'a', ''),
  'deletes custom objects in the foreground': shape(
    'widget:a; widget:b<a! [x.dev/hold]; c<a!',
    'a:Foreground',
    'widget:a [foregroundDeletion] ending; widget:b<a! [x.dev/hold] ending',
  ),
  'orphans custom objects': shape('widget:a; widget:b<a; secret:c<a', 'a:Orphan', 'widget:b; secret:c'),
  'deletes dependents of a cluster-scoped owner in every namespace': shape(
    'gadget:a; b<a; other/c<a; gadget:d<a',
    'a',
    '',
  ),
  'keeps a cluster-scoped object when its namespaced owner is deleted': shape(
    'a; gadget:b<a',
    'a',
    'gadget:b<a',
  ),
  'keeps a cluster-scoped object whose only owner is namespaced': shape(
    'widget:a; gadget:b<a',
    '',
    'widget:a; gadget:b<a',
  ),
  'deletes a chain of Secrets and ConfigMaps': shape('secret:a; b<a; secret:c<b', 'a', ''),
};
