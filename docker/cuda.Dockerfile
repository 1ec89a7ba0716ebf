# PostgreSQL with gpubtree and its GPU code, on the image that docker/cpu.Dockerfile makes:
#
#   docker build -t gpubtree -f docker/cpu.Dockerfile .
#   docker build -t gpubtree-cuda -f docker/cuda.Dockerfile .
#   docker run --gpus all -e POSTGRES_PASSWORD=... --shm-size=1g gpubtree-cuda
#
# The host needs NVIDIA's driver and container toolkit.  --build-arg CUDA_ARCHS=90 compiles for GPUs of
# that compute capability alone, which takes a quarter of the time.
ARG CUDA=nvidia/cuda:13.0.1-devel-ubuntu24.04

FROM ${CUDA} AS build
ARG CUDA_ARCHS=
ARG QUICK=
COPY . /gpubtree
RUN apt-get update
# The GPU code knows no server: any version's makefiles do.
RUN apt-get install -y --no-install-recommends make g++ postgresql-server-dev-all
RUN make -C /gpubtree -s -j"$(nproc)" ${CUDA_ARCHS:+CUDA_ARCHS="$CUDA_ARCHS"} QUICK="$QUICK" gpubtree_cuda.so

FROM gpubtree
COPY --from=build /gpubtree/gpubtree_cuda.so /tmp/
RUN mv /tmp/gpubtree_cuda.so /usr/lib/postgresql/$PG_MAJOR/lib/
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
