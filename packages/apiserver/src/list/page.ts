// One page of a list: selects objects at one revision.

import { badRequest, expired } from '@lapse/kube/api/errors';
import type { Call } from '../context.ts';
import type { ListOptions } from '../http/query.ts';
import type { Stored } from '../store/stored.ts';
import type { View } from '../store/view.ts';
import { type ContinueToken, readToken, writeToken } from './continueToken.ts';
import { listRevision, tooLarge } from './revision.ts';
import { isSelected, parseSelection, type Selection } from './selection.ts';

export interface Page {
  readonly items: readonly Stored[];
  readonly meta: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

export function selectPage(call: Call, options: ListOptions): Page {
  const selection = parseSelection(call, options);
  const token = options.continue ? readToken(options.continue) : undefined;
  if (token && options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const view = openView(call, options, token);
  const after = token ? selection.prefix + token.after : '';
  const limit = isPaged(call, options, selection) ? options.limit : Infinity;
  const { items, last } = take(call, view, selection, { after, limit });
  if (last === undefined) return { items, meta: { resourceVersion: String(view.revision) } };
  return { items, meta: pageMeta(view, selection, last) };
}

/** resourceVersion=0 is answered from the cache, a name selects one object: neither has pages. */
function isPaged({ namespace, resource }: Call, options: ListOptions, { name }: Selection): boolean {
  if (options.limit <= 0) return false;
  if (name !== undefined && (namespace !== undefined || !resource.namespaced)) return false;
  return options.resourceVersion !== '0' || options.continue !== '';
}

function pageMeta(view: View, selection: Selection, last: string): Page['meta'] {
  return {
    resourceVersion: String(view.revision),
    continue: writeToken({ revision: view.revision, after: last.slice(selection.prefix.length) }),
    ...(selection.selective ? {} : { remainingItemCount: view.count(selection.prefix, last) }),
  };
}

/** Up to `limit` selected objects; `last` is the key to continue from when there are more. */
function take(call: Call, view: View, selection: Selection, page: { after: string; limit: number }) {
  const items: Stored[] = [];
  for (const stored of view.entries(selection.prefix, page.after)) {
    if (items.length === page.limit) return { items, last: items.at(-1)!.key };
    if (isSelected(call.resource, selection, stored)) items.push(stored);
  }
  return { items, last: undefined };
}

const OUTDATED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The error contains a token to continue at the current revision. */
function outdated({ after }: ContinueToken) {
  const error = expired(OUTDATED);
  error.status.metadata.continue = writeToken({ revision: undefined, after });
  return error;
}

function openView(call: Call, options: ListOptions, token: ContinueToken | undefined): View {
  const { store } = call.core;
  const { storage } = call.resource;
  if (token?.revision !== undefined) {
    const view = store.view(storage, token.revision);
    if (!view) throw outdated(token);
    return view;
  }
  const wanted = listRevision(options.resourceVersion);
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  const exact =
    options.resourceVersionMatch === 'Exact' || (options.limit > 0 && options.resourceVersionMatch === '');
  const view = store.view(storage, wanted > 0 && exact ? wanted : store.revision);
  if (!view) throw expired('The resourceVersion for the provided list is too old.');
  return view;
}
