# The image: the bundle of scripts/bundle.ts on a base without a shell. Built twice from one commit it is the same image:
#
#   docker buildx build --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
#     --output type=image,name=lapse:0.1.0,rewrite-timestamp=true --sbom=true --provenance=mode=max .
#
# --sbom=true attaches what is inside, as SPDX; `npm sbom --sbom-format cyclonedx --omit dev` says the same of the lock file
# without Docker. Pin both bases by digest for a release: --build-arg BUILD=…@sha256:… --build-arg BASE=…@sha256:….

ARG BUILD=node:24-bookworm-slim
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY packages/apiserver/package.json packages/apiserver/
COPY packages/base/package.json packages/base/
COPY packages/cel/package.json packages/cel/
COPY packages/kube/package.json packages/kube/
COPY packages/lapse/package.json packages/lapse/
COPY packages/runtime/package.json packages/runtime/
COPY packages/simulation/package.json packages/simulation/
# With what is optional: the compiler and the joiner of modules are programs for this platform.
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/bundle.ts /bundle

FROM ${BASE}
COPY --from=build --chown=0:0 /bundle /app
# 65532 is `nonroot` of the base. Nothing is written: the root may be read-only.
USER 65532:65532
WORKDIR /app
# As in bin/lapse. A small young generation: the same speed, and the garbage of a burst does not stay resident. Few
# threads ask for memory at once: a heap for each of them would only stay resident too. Early collections, and an
# allocator that gives memory back, keep the peak of a list low.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=4", "--heap-growing-percent=40", "/app/dist/lapse/src/cli/main.js"]
CMD ["run"]
