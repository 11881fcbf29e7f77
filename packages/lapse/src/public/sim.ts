export * from '@lapse/simulation/library';
