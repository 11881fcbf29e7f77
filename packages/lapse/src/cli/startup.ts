// Logs at startup: running controllers, CRDs that the cluster does not serve, and missing rights. Read-only; nothing
// depends on it.

import type { Log } from '@lapse/base/log';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import type { Client } from '@lapse/kube/client/client';
import { asError } from '@lapse/runtime/outcome';
import { applyCommand } from '#manager/crds';
import { createReviewer, describeMissing, type NeedsOptions, needsOf } from '#manager/review';

export interface StartupOptions extends NeedsOptions {
  readonly client: Client;
  readonly log: Log;
}

/** Resolves when everything is logged. Never rejects. */
export async function logStartup(options: StartupOptions): Promise<void> {
  const { families, log } = options;
  for (const { family, controllers } of families)
    log.info(
      { family: family.name, controllers: controllers.map(({ name }) => name) },
      'starting controllers',
    );
  try {
    await Promise.all([logMissingKinds(options), logMissingRights(options)]);
  } catch (error) {
    log.warn({ error: asError(error) }, 'cannot check for missing kinds and permissions');
  }
}

async function logMissingKinds({ client, log, families }: StartupOptions): Promise<void> {
  for (const { family } of families) {
    const missing = await missingKinds(client, family.kinds);
    if (missing.length > 0)
      log.warn(
        {
          family: family.name,
          missing,
          hint: applyCommand([family]) ?? 'apply its CustomResourceDefinitions',
        },
        'kinds are not served',
      );
  }
}

async function missingKinds(client: Client, kinds: readonly CustomKind[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { kind } of kinds) {
    const { group, version, resource } = kind;
    if ((await client.discovery.find({ group, version, resource })) === undefined)
      missing.push(`${resource}.${version}.${group}`);
  }
  return missing;
}

async function logMissingRights(options: StartupOptions): Promise<void> {
  const review = createReviewer(options.client);
  for (const { who, rights, where } of needsOf(options)) {
    const missing = await review(rights, where);
    if (missing.length > 0)
      options.log.warn({ controller: who, missing: missing.map(describeMissing) }, 'permissions are missing');
  }
}
