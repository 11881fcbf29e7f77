// /metrics of the server. Requests are counted when they end; other values are read on request.

import { formatMetrics, METRICS_CONTENT_TYPE, type MetricFamily, type Sample } from '@lapse/base/prometheus';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { Core } from '../context.ts';
import { servedData } from '../data/tables.ts';
import { bytesResponse } from '../http/respond.ts';
import type { Resource } from '../resources/resource.ts';

/** As kube-apiserver states it. */
const CONTENT_TYPE = `${METRICS_CONTENT_TYPE}; escaping=underscores`;

export function metricsPage(core: Core): HttpResponse {
  const families = [
    ...core.metrics.families(),
    ...objectFamilies(core),
    ...watchFamilies(core),
    ...processFamilies(core),
  ];
  families.sort((a, b) => (a.name < b.name ? -1 : 1));
  return bytesResponse(200, Buffer.from(formatMetrics(families)), CONTENT_TYPE);
}

/** One resource per stored resource, for all its versions. */
function storedResources(core: Core): Map<string, Resource> {
  const byTable = new Map<string, Resource>();
  for (const resource of core.registry.all()) {
    if (resource.verbs.includes('list') && !byTable.has(resource.storage))
      byTable.set(resource.storage, resource);
  }
  return byTable;
}

const COUNT_HELP = 'Number of stored objects at the time of last check split by kind.';

function objectFamilies(core: Core): MetricFamily[] {
  const counts = core.store.counts();
  const resources = [...storedResources(core)].sort(([a], [b]) => (a < b ? -1 : 1));
  const older = resources.map(([resource]) => ({ labels: { resource }, value: counts.get(resource) ?? 0 }));
  return [
    {
      name: 'apiserver_resource_objects',
      help: `[ALPHA] ${COUNT_HELP} In case of a fetching error, the value will be -1.`,
      type: 'gauge',
      samples: resources.map(([table, { group, plural }]) => ({
        labels: { group, resource: plural },
        value: counts.get(table) ?? 0,
      })),
    },
    { name: 'apiserver_storage_objects', help: `[STABLE] ${COUNT_HELP}`, type: 'gauge', samples: older },
    { name: 'etcd_object_counts', help: `[ALPHA] ${COUNT_HELP}`, type: 'gauge', samples: older },
  ];
}

function watchFamilies(core: Core): MetricFamily[] {
  const resources = storedResources(core);
  const longRunning: Sample[] = [];
  const registered: Sample[] = [];
  for (const [table, value] of core.hub.watchersByResource()) {
    const resource = resources.get(table);
    if (!resource) continue;
    const { group, version, kind, plural } = resource;
    longRunning.push({
      labels: { component: 'apiserver', group, resource: plural, subresource: '', verb: 'WATCH', version },
      value,
    });
    registered.push({ labels: { group, version, kind }, value });
  }
  return [
    {
      name: 'apiserver_longrunning_requests',
      help: '[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource and component.',
      type: 'gauge',
      samples: longRunning,
    },
    {
      name: 'apiserver_registered_watchers',
      help: '[ALPHA] Number of currently registered watchers for a given resources',
      type: 'gauge',
      samples: registered,
    },
    {
      name: 'apiserver_undelivered_watch_events',
      help: 'Watch events handed to watchers and not read by them yet.',
      type: 'gauge',
      samples: [{ value: core.hub.undelivered }],
    },
  ];
}

function processFamilies(core: Core): MetricFamily[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const gauge = (
    name: string,
    help: string,
    value: number,
    labels?: Record<string, string>,
  ): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    samples: [labels ? { labels, value } : { value }],
  });
  const { major = '', minor = '', gitVersion = '' } = servedData().version;
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'Total user and system CPU time spent in seconds.',
      type: 'counter',
      samples: [{ value: (user + system) / 1e6 }],
    },
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', rss),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      core.clock.now() / 1000 - process.uptime(),
    ),
    gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', heapUsed),
    gauge('kubernetes_build_info', "[BETA] A metric with a constant '1' value labeled by version.", 1, {
      git_version: gitVersion,
      major,
      minor,
    }),
  ];
}
