# The operator's two images. The binaries are static and are compiled by `make build`, so that the images build wherever
# Docker does, with any base: no compiler image, no network. The build context is the folder of the binaries:
#
#   make build
#   docker build --target manager -t benchrun/manager -f Dockerfile bin/linux-amd64
#   docker build --target loader  -t benchrun/loader  -f Dockerfile bin/linux-amd64
#
# Without an image registry: --build-arg BASE_IMAGE=scratch
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot

FROM ${BASE_IMAGE} AS manager
COPY manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]

FROM ${BASE_IMAGE} AS loader
COPY loader /loader
USER 65532:65532
ENTRYPOINT ["/loader"]
