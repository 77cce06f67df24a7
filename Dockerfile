# The operator's three images. The binaries are static and are compiled by `make build`, so that the images build wherever
# Docker does, with any base: no compiler image, no network. The build context is the folder of the binaries:
#
#   make build
#   docker build --target manager -t $REGISTRY/manager -f Dockerfile bin/linux-amd64
#   docker build --target loader  -t $REGISTRY/loader  -f Dockerfile bin/linux-amd64
#   docker build --target loader-sysbench -t $REGISTRY/loader-sysbench -f Dockerfile bin/linux-amd64
#
# Without an image registry: --build-arg BASE_IMAGE=scratch, and SYSBENCH_BASE_IMAGE an image that has sysbench already.
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot
# Bookworm has sysbench 1.0.20, as later releases do, and a client library that speaks TLS only if it is told to, as the
# loader itself does: all workloads are measured over the same kind of connection.
ARG SYSBENCH_BASE_IMAGE=debian:bookworm-slim

FROM ${BASE_IMAGE} AS manager
COPY manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]

FROM ${BASE_IMAGE} AS loader
COPY loader /loader
USER 65532:65532
ENTRYPOINT ["/loader"]

# The same loader where sysbench is.
FROM ${SYSBENCH_BASE_IMAGE} AS loader-sysbench
RUN command -v sysbench >/dev/null || { \
      apt-get -qq update && apt-get -qq install -y --no-install-recommends sysbench && rm -rf /var/lib/apt/lists/*; }
COPY loader /loader
USER 65532:65532
ENTRYPOINT ["/loader"]
