# PostgreSQL with gpubtree, on the official image:
#
#   docker build -t gpubtree -f docker/cpu.Dockerfile .
#   docker run -e POSTGRES_PASSWORD=... --shm-size=1g gpubtree
#
# The first database has the extension.  docker/cuda.Dockerfile adds the GPU code.
ARG POSTGRES=postgres:18-trixie

FROM ${POSTGRES} AS build
COPY . /gpubtree
RUN apt-get update
RUN apt-get install -y --no-install-recommends make gcc libc6-dev postgresql-server-dev-$PG_MAJOR
RUN make -C /gpubtree -s -j"$(nproc)" CUDA=no with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
RUN make -C /gpubtree -s CUDA=no with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config \
	DESTDIR=/installed install
RUN strip /installed/usr/lib/postgresql/$PG_MAJOR/lib/gpubtree.so

FROM ${POSTGRES}
COPY --from=build /installed/ /
RUN echo "CREATE EXTENSION gpubtree;" >/docker-entrypoint-initdb.d/gpubtree.sql
CMD ["postgres", "-c", "shared_preload_libraries=gpubtree"]
