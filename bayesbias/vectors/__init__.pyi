from .static import shipped_embeddings as shipped_embeddings, static_vectors as static_vectors
