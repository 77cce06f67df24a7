# The operator's two images. The binaries are static and are compiled by `make build`, so that the images build wherever
# Docker does, with any base: no compiler image, no network.
#
#   docker build --target manager -t benchrun/manager .
#   docker build --target loader  -t benchrun/loader  .
#
# Without an image registry: --build-arg BASE_IMAGE=scratch
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot

FROM ${BASE_IMAGE} AS manager
ARG ARCH=amd64
COPY bin/linux-${ARCH}/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]

FROM ${BASE_IMAGE} AS loader
ARG ARCH=amd64
COPY bin/linux-${ARCH}/loader /loader
USER 65532:65532
ENTRYPOINT ["/loader"]
